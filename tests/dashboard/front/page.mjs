/** What modules of the front end read of their page when they are loaded; `node --import` runs this before the tests. */
process.env.TZ = "UTC";
globalThis.location = /** @type {any} */ (new URL("http://service.example/dashboard/"));
globalThis.addEventListener = () => {};
globalThis.document = /** @type {any} */ ({
    documentElement: { dataset: { languages: "en,de" }, lang: "en" },
    getElementById: () => null,
    addEventListener: () => {},
});
