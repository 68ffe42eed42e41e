import type { GeometryCollection, Topology } from "topojson-specification";
declare const world: Topology<{ countries: GeometryCollection<{ name: string }> }>;
export default world;
