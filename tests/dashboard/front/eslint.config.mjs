import js from "@eslint/js";
import globals from "globals";

export default [
    { ignores: ["**/vendor/**"] },
    js.configs.recommended,
    {
        languageOptions: { ecmaVersion: 2025, sourceType: "module", globals: globals.browser },
        linterOptions: { reportUnusedDisableDirectives: "error" },
        rules: {
            "array-callback-return": "error",
            "consistent-return": "off", // components return nothing when they show nothing
            eqeqeq: "error",
            "no-duplicate-imports": "error",
            "no-implicit-coercion": ["error", { boolean: false }],
            "no-restricted-syntax": [
                "error",
                {
                    selector: String.raw`:matches(TemplateElement[value.raw=/\n[ \t]*\x2F\*\*/], Literal[raw=/\n[ \t]*\x2F\*\*/])`,
                    message: "The service would strip this text as a comment of types.",
                },
            ],
            "no-self-compare": "error",
            "no-shadow": "error",
            "no-unused-vars": ["error", { ignoreRestSiblings: true }],
            "no-unused-expressions": "off", // `condition && call()` and signals that are read to subscribe
            "no-use-before-define": ["error", { functions: false, classes: false, variables: false }],
            "no-useless-return": "error",
            "no-var": "error",
            "object-shorthand": "error",
            "prefer-arrow-callback": "error",
            "prefer-const": "error",
            "prefer-template": "error",
            "require-await": "error",
            curly: ["error", "multi-line"],
        },
    },
];
