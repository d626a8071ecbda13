// The URL is the document: a Problem and a place in it as a query string. Pure.

import fields from "./fields.json" with { type: "json" };

export const PROBLEM_KEYS = fields.keys;
/** The defaults of the keys that need no place in an address. @type {Record<string, string | number>} */
export const OPTIONAL = fields.optional;
/** Keys whose values are always numbers. @type {string[]} */
export const NUMBERS = fields.numbers;

/** The Problem's part of a query string, so that one Problem is one cache entry. @param {string} search */
export function problemOf(search) {
  const params = new URLSearchParams(search);
  return new URLSearchParams(
    PROBLEM_KEYS.filter((k) => params.has(k)).map((k) => [k, params.get(k) ?? ""]),
  ).toString();
}

/** What is selected in the picture, by its name in model/links.js, and how a row keeps its past. @param {string} search */
export function chosen(search) {
  const params = new URLSearchParams(search);
  return { sel: params.get("sel"), way: params.get("way") };
}

// What an address called a lesson before 2026-11: still read, never written
export const OLD_LESSON = "rung";

/** The screen of the Learn page that an address names, null for none. @param {string} search */
export function lessonOf(search) {
  const params = new URLSearchParams(search);
  return params.get("lesson") ?? params.get(OLD_LESSON);
}

/** Where in it: which pass, and the place there. @param {string} search */
export function position(search) {
  const params = new URLSearchParams(search);
  const step = params.get("step");
  /** @type {import("./types.js").Pass} */
  const pass = params.get("pass") === "backward" ? "backward" : "forward";
  return {
    step: /^\d{1,9}$/.test(step ?? "") ? Number(step) : undefined,
    phase: params.get("phase") ?? undefined,
    pass,
  };
}
