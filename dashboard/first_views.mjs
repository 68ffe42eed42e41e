/**
 * Prints the files that the first view of each page loads: the modules that `main.js` and the page import statically, and
 * the style sheets that they wait for. `make front` writes them to `front/first_views.json`.
 *
 * Arguments: the folder of the front end, and the folder with the npm package `typescript`.
 */
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join, posix, resolve } from "node:path";

const [front, nodeModules] = process.argv.slice(2);
const ts = createRequire(import.meta.url)(resolve(nodeModules, "typescript"));

/** The files that a module needs before it runs, without those of its imports. */
function needsOf(name) {
    const source = ts.createSourceFile(name, readFileSync(join(front, name), "utf8"), ts.ScriptTarget.Latest);
    return source.statements.flatMap(statement => {
        if ((ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement)) && statement.moduleSpecifier) {
            return [posix.join(posix.dirname(name), statement.moduleSpecifier.text)];
        }
        return styleOf(statement);
    });
}

/** The style sheet of a statement `await loadStyle("name.css")`. */
function styleOf(statement) {
    if (!ts.isExpressionStatement(statement) || !ts.isAwaitExpression(statement.expression)) return [];
    const call = statement.expression.expression;
    if (!ts.isCallExpression(call) || call.expression.text !== "loadStyle") return [];
    return [call.arguments[0].text];
}

/** `names` and everything that they need, without duplicates. */
function withNeeds(names, collected = new Set()) {
    for (const name of names) {
        if (collected.has(name)) continue;
        collected.add(name);
        if (!name.endsWith(".css")) withNeeds(needsOf(name), collected);
    }
    return collected;
}

const pages = readdirSync(join(front, "pages"), { recursive: true }).filter(name => name.endsWith("page.js"));
const firstViews = pages.sort().map(name => [`pages/${name}`, [...withNeeds(["main.js", `pages/${name}`])]]);
console.log(JSON.stringify(Object.fromEntries(firstViews), null, 2));
