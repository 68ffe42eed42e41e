export { feature } from "topojson-client";
