/** The entry point of the dashboard. */
import { html, render } from "./core/html.js";
import { startKeys } from "./core/keys.js";
import { startRouter } from "./core/router.js";
import { loadTexts } from "./core/texts.js";
import { App } from "./parts/app.js";
import { loadCurrentPage } from "./pages/routes.js";

// A page that cannot be loaded reports that itself.
await Promise.all([loadTexts(), loadCurrentPage().catch(() => {})]);
startRouter();
startKeys();
const root = document.getElementById("app");
if (root !== null) render(html`<${App} />`, root);
