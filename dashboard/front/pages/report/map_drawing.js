/** The outlines of the countries as SVG paths, computed once. */
import { geoNaturalEarth1, geoPath } from "../../vendor/d3-geo.mjs";
import { feature } from "../../vendor/topojson-client.mjs";
import world from "../../vendor/world-atlas.mjs";
import { codeOf } from "./map_codes.js";

export const WIDTH = 960;
export const HEIGHT = 480;

const projection = geoNaturalEarth1().fitSize([WIDTH, HEIGHT], { type: "Sphere" });
// A precision of a tenth of a pixel is enough.
const path = geoPath(projection).digits(1);

/** @type {{code: string, outline: string}[]} */
export const countries = feature(world, world.objects.countries).features.map(country => ({
    code: codeOf(country.id, country.properties.name),
    outline: path(country) ?? "",
}));
