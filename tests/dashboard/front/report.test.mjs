import assert from "node:assert/strict";
import { before, describe, mock, test } from "node:test";
import { countries } from "../../../dashboard/front/core/countries.js";
import { CAMPAIGNS, addressOfReport, reportOf } from "../../../dashboard/front/pages/analytics/campaigns.js";
import { loadTexts } from "../../../dashboard/front/core/texts.js";
import { marksOf } from "../../../dashboard/front/pages/report/annotations.js";
import { toCsv } from "../../../dashboard/front/pages/report/csv.js";
import { query } from "../../../dashboard/front/core/router.js";
import { today } from "../../../dashboard/front/pages/report/days.js";
import { adding, filtersOf, parametersOf, removing, textOf, valuesOf } from "../../../dashboard/front/pages/report/filters.js";
import { cellsOf } from "../../../dashboard/front/pages/report/heat_map.js";
import { rowsOf } from "../../../dashboard/front/pages/report/lists.js";
import { codeOf } from "../../../dashboard/front/pages/report/map_codes.js";
import { chipsOfLinks } from "../../../dashboard/front/pages/report/selected_links.js";
import { inOwnNames, periodOf } from "../../../dashboard/front/pages/report/period.js";
import { daysOfStep, inSameHours, stepsOf } from "../../../dashboard/front/pages/report/steps.js";
import world from "../../../dashboard/front/vendor/world-atlas.mjs";

// A Friday.
before(() => mock.timers.enable({ apis: ["Date"], now: Date.UTC(2030, 2, 15, 23, 30) }));

const queried = (/** @type {string} */ text) => periodOf(new URLSearchParams(`zone=UTC&${text}`));

describe("an address with the names of the API", () => {
    /** @type {[string, string][]} */
    const cases = [
        ["period=24h", "range=today"],
        ["period=7d&country=DE", "country=DE&range=7d"],
        ["period=12mo&timezone=Asia/Tokyo", "range=12m&zone=Asia/Tokyo"],
        ["startDate=2030-01-01&endDate=2030-01-31", "range=custom&start=2030-01-01&end=2030-01-31"],
        // The page's own names win.
        ["range=mtd&zone=UTC&period=all&timezone=Asia/Tokyo", "range=mtd&zone=UTC"],
    ];
    for (const [given, own] of cases) {
        test(given, () => assert.equal(decodeURIComponent(`${inOwnNames(new URLSearchParams(given))}`), own));
    }
    test("without any", () => assert.equal(inOwnNames(new URLSearchParams("range=7d&start=2030-01-01")), null));
});

describe("the period of a report", () => {
    /** @type {[string, string[] | null, string, string][]} */
    const cases = [
        ["range=today", ["2030-03-15", "2030-03-15"], "", "hour"],
        ["range=7d&compare=", ["2030-03-09", "2030-03-15"], "previous", "day"],
        ["range=30d", ["2030-02-14", "2030-03-15"], "", "day"],
        ["range=90d", ["2029-12-16", "2030-03-15"], "", "day"],
        ["range=12m", ["2029-04-01", "2030-03-15"], "", "month"],
        ["range=mtd", ["2030-03-01", "2030-03-15"], "", "day"],
        ["range=ytd&compare=previous", ["2030-01-01", "2030-03-15"], "previous", "month"],
        ["range=7d&compare=year", ["2030-03-09", "2030-03-15"], "year", "day"],
        // Nothing precedes the lifetime.
        ["range=all&compare=year", null, "", "day"],
        ["range=custom&start=2028-02-29&end=2028-03-01", ["2028-02-29", "2028-03-01"], "", "day"],
        ["range=custom&start=2028-02-30", ["2030-02-14", "2030-03-15"], "", "day"],
        ["range=7d&interval=week", ["2030-03-09", "2030-03-15"], "", "week"],
        // The API has hours for 31 days only.
        ["range=90d&interval=hour", ["2029-12-16", "2030-03-15"], "", "day"],
    ];
    for (const [text, days, comparison, interval] of cases) {
        test(`of ${text}`, () => {
            const period = queried(text);
            assert.deepEqual(period.days, days && { start: days[0], end: days[1] });
            assert.equal(period.comparison, comparison);
            assert.equal(period.interval, interval);
        });
    }

    test("changes only if it includes today", () => {
        const texts = ["range=all", "range=7d", ...[14, 15, 16].map(day => `range=custom&end=2030-03-${day}`)];
        assert.deepEqual(texts.map(text => queried(text).isLive), [true, true, false, true, true]);
    });
});

describe("the filters of a report", () => {
    test("are the values of its parameters, of which a hyphen excludes some", () => {
        const values = [
            { value: "DE", isExcluded: false },
            { value: "FR", isExcluded: true },
            { value: "a,b", isExcluded: false },
            { value: "-x\\", isExcluded: true },
            { value: "-y", isExcluded: false },
        ];
        assert.equal(textOf(values), String.raw`DE,-FR,a\,b,-\-x\\,\-y`);
        assert.deepEqual(valuesOf(textOf(values)), values);
        assert.deepEqual(valuesOf(""), []);
        // Of links without a value, and of the value with this name.
        assert.equal(textOf(["", "none"].flatMap(value => [{ value, isExcluded: false }, { value, isExcluded: true }])), String.raw`none,-none,\none,-\none`);
        assert.deepEqual(valuesOf(String.raw`-none,\none`), [{ value: "", isExcluded: true }, { value: "none", isExcluded: false }]);
    });
    test("are added, turned round and removed one by one", () => {
        const query = new URLSearchParams("device=mobile&country=DE,-FR&range=7d&tags=spring");
        assert.deepEqual(
            filtersOf(query).map(({ dimension, value, isExcluded }) => [dimension, value, isExcluded]),
            [["country", "DE", false], ["country", "FR", true], ["device", "mobile", false]],
        );
        assert.deepEqual(adding(query, "country", ["FR"], false), { country: "DE,FR" });
        assert.deepEqual(adding(query, "os", ["iOS"], true), { os: "-iOS" });
        assert.deepEqual(removing(query, "country", ["DE"]), { country: "-FR" });
        assert.deepEqual(removing(query, "device", ["mobile"]), { device: null });
        // Only a workspace has several links to select from.
        assert.deepEqual(parametersOf(query, true), { country: "DE,-FR", device: "mobile" });
        assert.deepEqual(parametersOf(query, false), { country: "DE,-FR", device: "mobile", tags: "spring" });
    });
    test("are those of a row, which can stand for several values, or for the rest of the list", async () => {
        await loadTexts();
        const counted = [
            { value: "t.co", clicks: 3 },
            { value: "news.example", clicks: 2 },
            { value: "other", clicks: 9, isRest: true },
            { value: "x.com", clicks: 1 },
        ];
        assert.deepEqual(
            rowsOf("referrer", counted, 15).map(({ values, clicks, share }) => [values, clicks, share]),
            [[["t.co", "x.com"], 4, 26.7], [["news.example"], 2, 13.3], [[], 9, 60]],
        );
    });
});

test("a report has a chip for each chosen link, and one for many others", async () => {
    await loadTexts();
    const chipsOf = (/** @type {number} */ count) => {
        query.value = new URLSearchParams({ urlIds: Array.from({ length: count }, (_, index) => `id${index}`).join(",") });
        return chipsOfLinks({ members: [], links: new Map([["id0", "Spring"]]) });
    };
    assert.deepEqual(chipsOf(2).map(({ value, without }) => [value, without.urlIds]), [["Spring", "id1"], ["id1", "id0"]]);
    const many = chipsOf(100);
    assert.deepEqual([many.length, many[5].value, many[5].without.urlIds], [6, "95 more", many.slice(0, 5).map((_, index) => `id${index}`).join(",")]);
    assert.deepEqual(chipsOf(1)[0].without, { urlIds: null });
});

test("the week has an hour for each of its clicks", () => {
    const cells = cellsOf([{ value: "1-0", clicks: 3 }, { value: "7-23", clicks: 2 }]);
    assert.equal(cells.length, 168);
    assert.deepEqual([cells[0], cells[167]], [{ day: 0, hour: 0, clicks: 3 }, { day: 6, hour: 23, clicks: 2 }]);
    assert.equal(cells.reduce((sum, { clicks }) => sum + clicks, 0), 5);
});

describe("a campaign", () => {
    /** @type {[string, Record<string, string>][]} */
    const cases = [
        ["", {}],
        ["compare=previous&country=DE%2C-FR&range=90d&tags=spring&zone=Europe%2FBerlin", { compare: "previous", country: "DE,-FR", period: "90d", tags: "spring", timezone: "Europe/Berlin" }],
        ["end=2030-03-31&interval=hour&range=custom&start=2030-03-01", { endDate: "2030-03-31", interval: "hour", startDate: "2030-03-01" }],
        ["range=12m", { period: "12mo" }],
    ];
    for (const [address, report] of cases) {
        test(`has the parameters of the API and the address of the page: ${address}`, () => {
            assert.deepEqual(reportOf(new URLSearchParams(address)), report);
            assert.equal(addressOfReport(report), `/dashboard/analytics${address && `?${address}`}`);
        });
    }
    test("is a view with a report, whatever else the address says", () => {
        assert.deepEqual(reportOf(new URLSearchParams("workspace=1&range=7d&interval=week")), { period: "7d" });
        assert.deepEqual(reportOf(new URLSearchParams("range=90d&interval=hour&start=2030-01-01")), { period: "90d" });
        assert.deepEqual(reportOf(new URLSearchParams("range=all&compare=year")), { period: "all" });
        const view = (/** @type {object | null} */ report) => CAMPAIGNS.has(/** @type {any} */ ({ report }));
        assert.deepEqual([view(null), view({})], [false, true]);
    });
});

test("today compares with the hours of the day before that have begun", () => {
    // Of the 24 hours of each day, 23:30 is in the last one.
    const day = (/** @type {number} */ clicks) => ({
        clicksByDate: Array.from({ length: 24 }, (_, hour) => ({
            date: `2030-03-15T${String(hour).padStart(2, "0")}:00:00Z`,
            clicks,
            uniqueClicks: 1,
        })),
    });
    const count = (/** @type {"clicks" | "uniqueClicks" | undefined} */ name, /** @type {number} */ hour) =>
        inSameHours(name, day(2), day(5), Date.UTC(2030, 2, 15, hour, 30));
    assert.deepEqual([0, 9, 23].map(hour => count("clicks", hour)), [2, 20, 48]);
    assert.equal(count("uniqueClicks", 9), 10);
    assert.equal(count(undefined, 9), null);
});

test("the current day is that of the zone", () => {
    const zones = ["UTC", "Asia/Kathmandu", "America/Los_Angeles", "Pacific/Kiritimati"];
    assert.deepEqual(zones.map(today), ["2030-03-15", "2030-03-16", "2030-03-15", "2030-03-16"]);
});

test("weeks begin on Mondays and can be partial", () => {
    // From a Saturday to a Monday.
    const days = Array.from({ length: 10 }, (_, index) => index + 9).map(day => ({
        date: `2030-03-${String(day).padStart(2, "0")}`,
        clicks: day,
        uniqueClicks: 1,
    }));
    assert.deepEqual(stepsOf(days, "week"), [
        { date: "2030-03-09", clicks: 9 + 10, uniqueClicks: 2 },
        { date: "2030-03-11", clicks: 11 + 12 + 13 + 14 + 15 + 16 + 17, uniqueClicks: 7 },
        { date: "2030-03-18", clicks: 18, uniqueClicks: 1 },
    ]);
});

test("files keep every text and run none", () => {
    const cells = ["plain", 'a "quoted", text', "two\nlines", "=1+1", " @SUM(1)", "'=1", "-1", "\uff1d1", null, 12, 0.5];
    assert.equal(
        toCsv([cells, ["next"]]),
        'plain,"a ""quoted"", text","two\nlines",\'=1+1,\' @SUM(1),\'\'=1,\'-1,\'\uff1d1,,12,0.5\r\nnext\r\n',
    );
});

test("the map has countries of the API, each once", () => {
    /** @type {{id?: string, properties: {name: string}}[]} */
    const areas = /** @type {any} */ (world).objects.countries.geometries;
    const codes = new Map(areas.map(({ id, properties }) => [properties.name, codeOf(id, properties.name)]));
    assert.deepEqual([...codes].filter(([, code]) => code === "").map(([name]) => name).sort(), ["N. Cyprus", "Somaliland"]);
    const named = [...codes.values()].filter(code => code !== "");
    assert.equal(new Set(named).size, 175);
    assert.equal(named.length, 175);
    assert.deepEqual(named.filter(code => !countries.includes(code)), []);
    // A wrong number would give a country the name of another.
    const names = new Intl.DisplayNames(["en"], { type: "region" });
    const same = [...codes].filter(([name, code]) => code !== "" && names.of(code) === name).length;
    assert.equal(same, 156);
});

describe("the changes of a link on its curve", () => {
    // The evening of the 4th in New York, a Sunday.
    const changes = /** @type {any[]} */ ([{ _id: "1", action: "link.updated", changedAt: "2030-02-05T01:30:00Z", before: {}, after: {} }]);
    /** @type {[string, string, string[], number[]][]} */
    const cases = [
        ["day", "UTC", ["2030-02-04", "2030-02-05"], [1]],
        ["day", "America/New_York", ["2030-02-04", "2030-02-05"], [0]],
        ["day", "UTC", ["2030-02-06"], []],
        ["week", "UTC", ["2030-01-30", "2030-02-04", "2030-02-11"], [1]],
        // The first week of a period may begin in its middle.
        ["week", "UTC", ["2030-02-07"], [0]],
        ["month", "UTC", ["2030-01", "2030-02"], [1]],
        ["hour", "UTC", ["2030-02-05T00:00:00Z", "2030-02-05T01:00:00Z", "2030-02-05T02:00:00Z"], [1]],
    ];
    for (const [interval, zone, dates, positions] of cases) {
        test(`by ${interval} in ${zone} from ${dates[0]}`, () => {
            const steps = dates.map(date => ({ date }));
            const marks = marksOf(changes, steps, /** @type {any} */ ({ interval, zone }));
            assert.deepEqual(marks, positions.map(position => ({ position, changes })));
        });
    }
});

describe("the days of a step", () => {
    const days = { start: "2028-02-10", end: "2028-03-05" };
    /** @type {[string, import("../../../dashboard/front/pages/report/period.js").Interval, object | null, object | null][]} */
    const cases = [
        ["2028-02-29", "day", days, { start: "2028-02-29", end: "2028-02-29" }],
        ["2028-02", "month", days, { start: "2028-02-10", end: "2028-02-29" }],
        ["2028-03", "month", days, { start: "2028-03-01", end: "2028-03-05" }],
        ["2027-12", "month", null, { start: "2027-12-01", end: "2027-12-31" }],
        ["2028-02-10", "week", days, { start: "2028-02-10", end: "2028-02-13" }],
        ["2028-02-28", "week", days, { start: "2028-02-28", end: "2028-03-05" }],
        ["2028-02-28T10:00:00Z", "hour", days, null],
    ];
    for (const [date, interval, period, expected] of cases) {
        test(`${interval} of ${date}`, () => assert.deepEqual(daysOfStep(date, interval, /** @type {any} */ (period)), expected));
    }
});
