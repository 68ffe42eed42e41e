/** Shows why the browser returned no passkey. allauth's script only dispatches an event. */
(() => {
  // The page has the texts: by the name of the exception, which begins with a small letter here.
  // Browsers do not tell the cases of NotAllowedError apart, so that a page cannot find out which passkeys a visitor has.
  const texts = document.currentScript.dataset;

  function textOf(exception) {
    if (!window.PublicKeyCredential) return texts.unsupported;
    const name = exception?.name ?? "";
    return texts[name.charAt(0).toLowerCase() + name.slice(1)] ?? texts.other;
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
