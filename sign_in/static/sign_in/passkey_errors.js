/** Shows why the browser returned no passkey. allauth's script only dispatches an event. */
(() => {
  const TEXTS = {
    // Browsers do not tell these cases apart, so that a page cannot find out which passkeys a visitor has.
    NotAllowedError:
      "No passkey was used: the request was cancelled or took too long, or this device has no passkey for this service. Try again.",
    InvalidStateError: "This device already has a passkey for this account.",
    NotSupportedError: "This device does not support the passkeys that this service needs.",
    SecurityError: "The browser allows no passkeys at this address.",
  };

  function textOf(exception) {
    if (!window.PublicKeyCredential) return "This browser does not support passkeys here. They need a secure connection (https).";
    return TEXTS[exception?.name] ?? "The passkey could not be used. Try again.";
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
