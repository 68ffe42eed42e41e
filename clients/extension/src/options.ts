// The settings: which service, and with which key.

import { attempt, element, mayCall, store, stored } from "./browser.js";
import { Client, isApiError } from "./client/index.js";

const url = element<HTMLInputElement>("url");
const key = element<HTMLInputElement>("key");

element("form").addEventListener("submit", (event) => {
  event.preventDefault();
  void attempt(async () => {
    const baseUrl = new URL(url.value);
    if (!(await mayCall(baseUrl))) throw new Error("Without this permission, the extension cannot call the service.");
    const address = baseUrl.href.replace(/\/+$/, "");
    const client = new Client({ baseUrl: address, apiKey: key.value.trim(), retries: 0 });
    try {
      await client.listUrls({ limit: 1 });
    } catch (error) {
      // A key need not be good for reading.
      if (!isApiError(error, "scope_required")) throw error;
    }
    await store({ url: address, key: key.value.trim() });
    return "Saved. The key works.";
  });
});

// Last, because whoever is quick has typed and saved already.
const { url: knownUrl, key: knownKey } = await stored();
url.value ||= knownUrl ?? "";
key.value ||= knownKey ?? "";
