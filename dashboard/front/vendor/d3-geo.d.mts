export * from "d3-geo";
