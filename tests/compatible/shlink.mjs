// Creates and finds a link with Shlink's own client, and prints what it got.
import { ShlinkApiClient } from "@shlinkio/shlink-js-sdk";
import { NodeHttpClient } from "@shlinkio/shlink-js-sdk/node";

const [, , baseUrl, apiKey] = process.argv;
const clientWith = (key) => new ShlinkApiClient(new NodeHttpClient(), { baseUrl, apiKey: key });
const client = clientWith(apiKey);
const refusal = (promise) => promise.catch((error) => error.type);

const sent = {
  longUrl: "https://example.com/shlink",
  customSlug: "spring",
  tags: ["sale"],
  maxVisits: 5,
  findIfExists: false,
};
const { status } = await client.health();
const created = await client.createShortUrl(sent);
const found = await client.getShortUrl({ shortCode: "spring" });
const list = await client.listShortUrls({
  page: "1",
  itemsPerPage: 10,
  searchTerm: "shlink",
  tags: ["sale"],
  orderBy: { field: "dateCreated", dir: "DESC" },
});
console.log(
  JSON.stringify({
    health: status,
    created: [created.shortCode, created.longUrl, created.meta.maxVisits],
    found: found.shortCode,
    listed: [list.data.map((link) => link.shortCode), list.pagination.totalItems],
    taken: await refusal(client.createShortUrl(sent)),
    unknown: await refusal(client.getShortUrl({ shortCode: "nothing" })),
    wrongKey: await refusal(clientWith("wrong").listShortUrls({})),
  }),
);
