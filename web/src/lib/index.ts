// Which words stand in which session of a site. jobs/view/indexing.py makes it, and cuts words in the same way.

export interface Index {
  reels: string[];
  words: Record<string, string>; // by the numbers of the reels, words with blanks between them
}

const FIRST = 16;

/** The reels in which all words of it may stand; null if it has none, so that nothing can be told. */
export function candidates(index: Index, text: string): Set<string> | null {
  const wanted = text.toLowerCase().match(/[^\x00-/:-@[-`{-\x7f]+/g);
  if (!wanted) return null;
  let kept = new Set(index.reels.keys());
  for (const word of new Set(wanted.map((w) => w.slice(0, FIRST)))) {
    const found = new Set<number>();
    for (const [places, words] of Object.entries(index.words)) {
      if (words.includes(word)) for (const n of places.split(",")) found.add(Number(n));
    }
    kept = new Set([...kept].filter((n) => found.has(n)));
  }
  return new Set([...kept].map((n) => index.reels[n]!));
}
