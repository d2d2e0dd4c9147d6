// How numbers are written; utils/text.py has the same rules.

const STEPS = 100_000; // in which shares are told
const inWords = new Intl.NumberFormat("en");
const thousands = (number) => inWords.format(number);
const counted = (number, thing) => `${thousands(number)} ${thing}${number === 1 ? "" : "s"}`;

function wholeSteps(share) {
  if (share >= 1 - 1e-9) return STEPS;
  return share <= 1e-9 ? 0 : Math.min(Math.max(evenly(STEPS * share), 1), STEPS - 1);
}

// To the nearest whole number, halves to the even one.
function evenly(number) {
  const half = number - Math.floor(number) === 0.5;
  return half ? 2 * Math.round(number / 2) : Math.round(number);
}

// Two digits, of which halves go to the even one: those of eighths.
const twoDigits = (number) => ((8 * number) % 2 === 1 ? evenly(100 * number) / 100 : number).toFixed(2);

// A share in whole per cent: 100 % is all, and 0 % is none.
function writeSteps(steps) {
  const percent = evenly((100 * steps) / STEPS);
  if (percent === 0 && steps > 0) return "< 1 %";
  return percent === 100 && steps < STEPS ? "> 99 %" : `${percent} %`;
}

const writeShare = (share) => writeSteps(wholeSteps(share));
const unbroken = (text) => text.replaceAll(" %", "\u00a0%");

function writeP(p) {
  if (p === null) return "–";
  return p < 0.001 ? "< 0.001" : String(Number(p.toPrecision(2)));
}

function ordinal(number) {
  const teen = number % 100 > 10 && number % 100 < 20;
  return thousands(number) + ((!teen && ["", "st", "nd", "rd"][number % 10]) || "th");
}

// Words with the facts, written already, filled in where their names are in braces.
const filled = (words, facts) => words.replace(/{(\w+)(?::[^}]*)?}/g, (_, name) => facts[name]);
