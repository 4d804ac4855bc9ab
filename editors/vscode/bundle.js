// Takes the grammar, of which there is one copy for all editors, into the extension's folder.
"use strict";

const { copyFileSync } = require("node:fs");
const { join } = require("node:path");

copyFileSync(join(__dirname, "../rules.tmLanguage.json"), join(__dirname, "rules.tmLanguage.json"));
