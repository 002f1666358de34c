// Plays a whole game from a module that `regelwerk build` wrote: node play.mjs game.wasm [SEED] [POLICY]
import { readFileSync } from "node:fs";

const [file, seed = "1", policy = ""] = process.argv.slice(2);
const manifest = JSON.parse(readFileSync(file.replace(/\.wasm$/, ".json"), "utf8"));
const { instance } = await WebAssembly.instantiate(readFileSync(file));
const game = instance.exports;
const memory = new Int32Array(game.memory.buffer); // the module never grows its memory
const decisions = new Map(manifest.decisions.map((decision) => [decision.number, decision]));
const bot = manifest.policies.find(({ name }) => name === policy)?.number ?? 0;
const { names, none } = manifest;

/** The value whose words begin at a place, by its public name. */
function value(at, { form, name, optional, of, fields }) {
  const word = memory[at];
  if (of) {
    return word < 0 ? null : Array.from({ length: word }, (_, i) => value(at + 1 + i * of.words, of));
  }
  if (form === "bag" || fields) {
    if (optional && word === 0) return null;
    if (optional) at += 1;
    if (fields) {
      return Object.fromEntries(fields.map((field, i) =>
        [field.field, value(at + fields.slice(0, i).reduce((sum, { words }) => sum + words, 0), field)]));
    }
    return Object.fromEntries(names.kind[name].map((member, i) => [member, memory[at + i]]).filter(([, n]) => n));
  }
  if (word === (form === "int" ? none.number : none.index)) return null;
  if (form === "bool") return word === 1;
  if (form === "seat") return manifest.seats[word].name;
  if (form === "kind") return names.kind[name][word];
  return names[form]?.[word] ?? word;
}

/** The option at an address, in words. */
function words(decision, address) {
  const { name, choices } = decision.alternatives[memory[address / 4]];
  const chosen = choices.map((each) => `${each.name}=${JSON.stringify(value((address + each.offset) / 4, each.shape))}`);
  return [name, ...chosen].join(" ");
}

game.new_game(BigInt(seed));
console.log(`${manifest.title}, ${manifest.players} players, seed ${seed}, ${manifest.policies[bot].name}`);
let number = 0;
while (!game.over()) {
  const decision = decisions.get(game.decision());
  const [seat, count] = [game.actor(), game.count()];
  const option = game.bot(bot); // or one of: manifest.memory.options + i * decision.stride, i < count
  console.log(`${++number}. ${manifest.seats[seat].name}: ${decision.name}: ${words(decision, option)} (of ${count})`);
  game.choose(option);
}
const digest = BigInt.asUintN(64, game.digest()).toString(16).padStart(16, "0");
console.log(`over after ${number} choices, digest ${digest}`);
for (const { seat, name, counts } of manifest.seats) {
  const keys = manifest.ranking.map((key, i) => `${key} ${game.key(seat, i)}`);
  if (counts) console.log(`${game.place(seat)}. ${name}: ${keys.join(", ")}`);
}
