/** The outlines of the countries as SVG paths, computed once. */
import { geoNaturalEarth1, geoPath } from "../../vendor/d3-geo.mjs";
import { feature } from "../../vendor/topojson-client.mjs";
import world from "../../vendor/world-atlas.mjs";
import { codeOf } from "./map_codes.js";

const all = feature(world, world.objects.countries);
// Antarctica would take a fifth of the height.
const shown = { ...all, features: all.features.filter(({ id }) => id !== "010") };

export const WIDTH = 960;
// That of the shown countries in this width; the style sheet has their ratio.
export const HEIGHT = 418;

const projection = geoNaturalEarth1().fitSize([WIDTH, HEIGHT], shown);
// A precision of a tenth of a pixel is enough.
const path = geoPath(projection).digits(1);

/** @type {{code: string, outline: string}[]} */
export const countries = shown.features.map(country => ({
    code: codeOf(country.id, country.properties.name),
    outline: path(country) ?? "",
}));
