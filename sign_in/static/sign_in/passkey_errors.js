/** Shows why the browser returned no passkey. allauth's script only dispatches an event. */
(() => {
  // Browsers do not tell the cases of NotAllowedError apart, so that a page cannot find out which passkeys a visitor has.
  const TEXTS = {
    en: {
      NotAllowedError:
        "No passkey was used: the request was cancelled or took too long, or this device has no passkey for this service. Try again.",
      InvalidStateError: "This device already has a passkey for this account.",
      NotSupportedError: "This device does not support the passkeys that this service needs.",
      SecurityError: "The browser allows no passkeys at this address.",
      unsupported: "This browser does not support passkeys here. They need a secure connection (https).",
      other: "The passkey could not be used. Try again.",
    },
    de: {
      NotAllowedError:
        "Es wurde kein Passkey benutzt: Die Anfrage wurde abgebrochen oder dauerte zu lange, oder dieses Gerät hat keinen Passkey für diesen Dienst. Versuchen Sie es erneut.",
      InvalidStateError: "Dieses Gerät hat schon einen Passkey für dieses Konto.",
      NotSupportedError: "Dieses Gerät unterstützt die Passkeys nicht, die dieser Dienst braucht.",
      SecurityError: "Der Browser erlaubt unter dieser Adresse keine Passkeys.",
      unsupported: "Dieser Browser unterstützt hier keine Passkeys. Sie brauchen eine sichere Verbindung (https).",
      other: "Der Passkey konnte nicht benutzt werden. Versuchen Sie es erneut.",
    },
  };

  function textOf(exception) {
    const texts = TEXTS[document.documentElement.lang] ?? TEXTS.en;
    if (!window.PublicKeyCredential) return texts.unsupported;
    return texts[exception?.name] ?? texts.other;
  }

  document.addEventListener("allauth.error", event => {
    event.preventDefault();
    document.getElementById("passkey_error")?.remove();
    const message = document.createElement("p");
    message.id = "passkey_error";
    message.setAttribute("role", "alert");
    message.textContent = textOf(event.detail.exception);
    document.querySelector("main h1").after(message);
  });
})();
