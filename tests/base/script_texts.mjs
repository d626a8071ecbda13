// Prints as JSON what scripts take from assets/texts, as TypeScript knows it:
// node script_texts.mjs TYPESCRIPT TSCONFIG [FILE…] → [{file, uses: [{page, keys, values}]}], the
// values of a phrase null.
// Without files, of all scripts that the configuration names.

import { createRequire } from "node:module";
import { basename, dirname } from "node:path";

const [library, config, ...named] = process.argv.slice(2);
const ts = createRequire(import.meta.url)(library);
const { options, fileNames } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(config, ts.sys.readFile).config,
  ts.sys,
  dirname(config),
);
const files = named.length ? named : fileNames;
const program = ts.createProgram(files, options);
const checker = program.getTypeChecker();

const resolved = (node) => {
  const symbol = checker.getSymbolAtLocation(node);
  return symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
};

/** The page whose texts a function writes, and by what it was made: textsOf(<page>.json) takes a key and values,
 * phrasesOf(<page>.json) keys. */
function sourceOf(callee) {
  const made = ts.isIdentifier(callee) && resolved(callee)?.valueDeclaration?.initializer;
  const maker = made && ts.isCallExpression(made) && made.expression.getText();
  if (maker !== "textsOf" && maker !== "phrasesOf") return null;
  const { fileName } = resolved(made.arguments[0]).declarations[0].getSourceFile();
  return { page: basename(fileName, ".json"), maker };
}

/** The page whose stored texts a name stands for, "" for another name. */
function pageOf(node) {
  const declared = ts.isIdentifier(node) && resolved(node)?.declarations?.[0];
  if (!declared) return "";
  const { fileName } = declared.getSourceFile();
  if (fileName.includes("/texts/") && fileName.endsWith(".json"))
    return basename(fileName, ".json");
  const from = ts.isVariableDeclaration(declared) && declared.initializer;
  return from && ts.isIdentifier(from) ? pageOf(from) : "";
}

/** What a node takes of stored texts by their names: [page, key] of each. */
function takenFrom(node) {
  const { ObjectBindingPattern: Pattern } = ts.SyntaxKind;
  if (ts.isVariableDeclaration(node) && node.name.kind === Pattern && node.initializer)
    return node.name.elements
      .map((part) => [pageOf(node.initializer), (part.propertyName ?? part.name).text])
      .filter(([page]) => page);
  const key = ts.isPropertyAccessExpression(node) ? node.name : node.argumentExpression;
  const page = key && pageOf(node.expression);
  return page && typeof key.text === "string" ? [[page, key.text]] : [];
}

/** The keys that an expression may be; a part that no type knows is a …. */
function keysOf(type) {
  if (type.isUnion()) return type.types.flatMap(keysOf);
  if (type.isStringLiteral()) return [type.value];
  return type.flags & ts.TypeFlags.TemplateLiteral ? [type.texts.join("…")] : ["…"];
}

function read(source) {
  const found = { file: source.fileName, uses: [] };
  const visit = (node) => {
    if (ts.isImportDeclaration(node)) return;
    for (const [page, key] of takenFrom(node)) found.uses.push({ page, keys: [key], values: null });
    const source = ts.isCallExpression(node) && sourceOf(node.expression);
    if (source) {
      const [key, values] = node.arguments;
      const isPhrase = source.maker === "phrasesOf";
      const names = values ? checker.getTypeAtLocation(values).getProperties() : [];
      for (const one of isPhrase ? node.arguments : [key])
        found.uses.push({
          page: source.page,
          keys: keysOf(checker.getTypeAtLocation(one)),
          values: isPhrase ? null : names.map(({ name }) => name),
        });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

console.log(JSON.stringify(files.map((file) => read(program.getSourceFile(file)))));
