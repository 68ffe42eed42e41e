/** Names of the values that reports count, in the language of the page. */
import { countryName } from "../../core/countries.js";
import { once } from "../../core/format.js";
import { language, t, textOr } from "../../core/texts.js";
import { UNSET } from "./filters.js";

/** @param {string} code ISO 3166-1 alpha-2, or `unknown` */
export function nameOfCountry(code) {
    if (code === "unknown") return t("report.unknown");
    try {
        return countryName(code);
    } catch {
        // A GeoIP database may have codes that the browser does not know.
        return code;
    }
}

const languageNames = once(() => new Intl.DisplayNames([language], { type: "language" }));

/** @param {string} code ISO 639, or `unknown` */
export const nameOfLanguage = code => (code === "unknown" ? nameOfValue(code) : (languageNames().of(code) ?? code));

/** @param {string} value a device, browser, system, region, city or referrer */
export function nameOfValue(value) {
    switch (value) {
        case "unknown":
            return t("report.unknown");
        case "direct":
            return t("report.direct");
        case UNSET:
            return t("report.none");
        case "desktop":
        case "mobile":
        case "tablet":
            return t(`device.${value}`);
        default:
            return value;
    }
}

/** What people call the sites and apps that hosts and packages belong to. */
const SITES = {
    X: "t.co x.com twitter.com mobile.twitter.com",
    Facebook: "facebook.com www.facebook.com m.facebook.com l.facebook.com lm.facebook.com com.facebook.katana",
    Instagram: "instagram.com www.instagram.com l.instagram.com com.instagram.android",
    LinkedIn: "linkedin.com www.linkedin.com lnkd.in com.linkedin.android",
    Google: "google.com www.google.com www.google.de com.google.android.googlequicksearchbox",
    Gmail: "mail.google.com com.google.android.gm",
    Bing: "bing.com www.bing.com",
    DuckDuckGo: "duckduckgo.com",
    YouTube: "youtube.com www.youtube.com m.youtube.com youtu.be",
    WhatsApp: "whatsapp.com web.whatsapp.com l.wl.co com.whatsapp",
    Telegram: "t.me web.telegram.org org.telegram.messenger",
    Slack: "slack.com app.slack.com com.slack",
    Teams: "teams.microsoft.com statics.teams.cdn.office.net",
    Outlook: "outlook.live.com outlook.office.com com.microsoft.office.outlook",
    Reddit: "reddit.com www.reddit.com old.reddit.com out.reddit.com com.reddit.frontpage",
    TikTok: "tiktok.com www.tiktok.com com.zhiliaoapp.musically",
    Pinterest: "pinterest.com www.pinterest.com",
    Mastodon: "mastodon.social",
    Bluesky: "bsky.app go.bsky.app",
    "Hacker News": "news.ycombinator.com",
    GitHub: "github.com",
};
const siteOfHost = once(() => new Map(Object.entries(SITES).flatMap(([site, hosts]) => hosts.split(" ").map(host => [host, site]))));

/** @param {string} referrer a host, the package of an app, `direct` or `unknown` */
export const nameOfReferrer = referrer => siteOfHost().get(referrer) ?? nameOfValue(referrer);

/**
 * A value of a filter in words.
 * @param {import("./filters.js").Dimension} dimension
 * @param {string} value of the API
 * @param {{_id: string, name: string}[]} branches of the link
 */
export function nameOfFilter(dimension, value, branches = []) {
    switch (dimension) {
        case "country":
            return nameOfCountry(value);
        case "language":
            return nameOfLanguage(value);
        case "region":
        case "city":
            return value === "unknown" ? t("report.unknown") : value.replace(/^[A-Z]{2} /, "");
        case "referrer":
            return nameOfReferrer(value);
        case "channel":
        case "continent":
        case "kind":
            return textOr(`${dimension}.${value}`, nameOfValue(value));
        case "utmSource":
        case "utmMedium":
        case "utmCampaign":
        case "utmTerm":
        case "utmContent":
            return value === UNSET ? nameOfValue(value) : value;
        case "branch":
            return branches.find(({ _id }) => _id === value)?.name ?? (value === UNSET ? nameOfValue(value) : value);
        default:
            return nameOfValue(value);
    }
}

/** @param {string} reason of a refusal, or the kind of a request that is not counted */
export const nameOfReason = reason => textOr(`report.reason.${reason}`, reason);

const percentFormat = once(
    () => new Intl.NumberFormat(language, { style: "percent", minimumFractionDigits: 1, maximumFractionDigits: 1 }),
);
const changeFormat = once(
    () => new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 0, signDisplay: "exceptZero" }),
);

/** @param {number} percentage as in the API, from 0 to 100 */
export const percent = percentage => percentFormat().format(percentage / 100);

/**
 * The change from one count to another. Null without a count to compare with.
 * @param {number} before
 * @param {number} now
 */
export const changeOf = (before, now) => (before === 0 ? null : changeFormat().format(now / before - 1));

/**
 * A percentage with one decimal, rounded as in the API.
 * @param {number} part
 * @param {number} whole
 */
export const shareOf = (part, whole) => (whole === 0 ? 0 : Math.round((1000 * part) / whole) / 10);
