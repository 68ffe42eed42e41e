// The popup: a short link to the tab at hand.

import { attempt, currentPage, element, openSettings, stored } from "./browser.js";
import { Client } from "./client/index.js";

const { url: baseUrl, key: apiKey } = await stored();
const page = await currentPage();
const code = element<HTMLInputElement>("code");
const link = element<HTMLAnchorElement>("link");

element("settings").addEventListener("click", () => void openSettings());
if (baseUrl === undefined || apiKey === undefined) {
  element("problem").textContent = "Name your service and its key in the settings.";
} else if (page === null) {
  element("problem").textContent = "Only pages of the web can be shortened.";
} else {
  offer(new Client({ baseUrl, apiKey }), page);
}

function offer(client: Client, { url, title }: { url: string; title: string }): void {
  let id = "";
  element("destination").textContent = url;
  element("form").hidden = false;

  element("form").addEventListener("submit", (event) => {
    event.preventDefault();
    void attempt(async () => {
      const created = await client.createUrl({
        originalUrl: url,
        // A second click finds the link of the first.
        findIfExists: true,
        // The API counts characters, and so does Array.from.
        ...(title ? { title: Array.from(title).slice(0, 200).join("") } : {}),
        ...(code.value ? { customCode: code.value } : {}),
      });
      const { _id, shortUrl } = created.data.url;
      id = _id;
      link.href = link.textContent = shortUrl;
      element("form").hidden = true;
      element("result").hidden = false;
      return "Created.";
    });
  });

  element("copy").addEventListener("click", () => {
    void attempt(async () => {
      await navigator.clipboard.writeText(link.href);
      return "Copied.";
    });
  });

  element("qr").addEventListener("click", () => {
    void attempt(async () => {
      const image = element<HTMLImageElement>("image");
      // A second click shows the same code.
      if (!image.src) image.src = (await client.createQrCode({ urlId: id, format: "svg", size: 600 })).data.qrCode.imageUrl;
      image.hidden = false;
      return "";
    });
  });
}
