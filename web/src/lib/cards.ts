// Messages of a request as cards: a call and its result are one.
import type { Card, MessageCard } from "../types.gen";

export interface Placed {
  message: MessageCard;
  at: number; // its place in the request, or in the answer
  answer: boolean;
}

/** A card of a request. `called`: the message that a call stands in; `message` is that of its result, once there is one. */
export type RequestCard = Card & { called?: string };

/** `calls`: messages whose calls may be answered here, such as those of the parent's answer. */
export function cardsOf(placed: Placed[], calls: MessageCard[], request: string): RequestCard[] {
  const cards: RequestCard[] = [];
  const open = new Map<string, RequestCard>();
  const known = new Map(calls.flatMap((m) => (m.calls ?? []).map((c) => [c.id, { c, m }] as const)));
  for (const { message, at, answer } of placed) {
    const key = `${request}/${answer ? "a" : "m"}${at}`;
    const text = message.text ?? "";
    if (message.role === "tool_result") {
      const waiting = message.answers ? open.get(message.answers) : undefined;
      const called = message.answers ? known.get(message.answers) : undefined;
      const card: RequestCard = waiting ?? (called ? { kind: "call", key, call: called.c, called: called.m.id } : { kind: "result", key });
      card.result = text;
      card.result_cut = message.cut ?? 0;
      card.result_lines = message.lines ?? 0;
      card.failed = message.is_error === true;
      card.open = false;
      card.pictures = message.pictures ?? false;
      card.place = key;
      card.message = message.id;
      if (!waiting) {
        if (card.kind === "result") card.text = text;
        cards.push(card);
      }
      continue;
    }
    const isBlank = message.role === "assistant" && !message.pictures && placed.length > 1; // what models say before they think or call
    if (text.trim() || !(isBlank || (message.calls ?? []).length)) {
      cards.push({
        kind: kindOf(message),
        key,
        text,
        cut: message.cut ?? 0,
        lines: message.lines ?? 0,
        level: message.role === "system" ? "system" : message.aside ? "context" : "info",
        message: message.id,
        pictures: message.pictures ?? false,
      });
    }
    (message.calls ?? []).forEach((call, i) => {
      const card: RequestCard = { kind: "call", key: `${key}.${i}`, call, open: true, called: message.id };
      if (call.id) open.set(call.id, card);
      cards.push(card);
    });
  }
  return cards;
}

function kindOf(message: MessageCard): string {
  switch (message.role) {
    case "user":
      return message.aside ? "notice" : "prompt";
    case "thinking":
      return "thinking";
    case "system":
      return "notice";
    default:
      return "said";
  }
}

/** What a block of an unknown kind was kept as: its JSON. Null for everything else. */
export function rawOf(text: string): { kind: string; json: string } | null {
  if (!text.startsWith('{"') || !text.endsWith("}") || text.length > 200_000) return null;
  try {
    const value = JSON.parse(text) as { type?: unknown };
    return typeof value.type === "string" ? { kind: value.type, json: JSON.stringify(value, null, 2) } : null;
  } catch {
    return null; // it only looks so
  }
}

/** The place of a card's message, to ask for its pictures. */
export function placeOf(key: string): { id: string; at: number; answer: boolean } | null {
  const found = /^(.*)\/([am])(\d+)(?:\.\d+)?$/.exec(key);
  return found ? { id: found[1]!, at: Number(found[3]), answer: found[2] === "a" } : null;
}
