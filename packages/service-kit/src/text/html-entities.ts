const names: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  // These four may also be written in upper case; other names are case-sensitive.
  AMP: '&',
  LT: '<',
  GT: '>',
  QUOT: '"',
  apos: "'",
  nbsp: ' ',
  copy: '©',
  reg: '®',
  trade: '™',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  laquo: '«',
  raquo: '»',
  rarr: '→',
  larr: '←',
  bull: '•',
  middot: '·',
  zwnj: '',
  shy: '',
}

/**
 * Decodes the HTML entities that occur in emails, in text or in an attribute. Unknown entities are
 * unchanged.
 */
export function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi,
    (all: string, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return Object.hasOwn(names, name) ? (names[name] ?? all) : all
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ''
    },
  )
}
