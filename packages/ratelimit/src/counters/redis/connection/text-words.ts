/** An ASCII text as words, the last of which is padded with zeros. */
export interface TextWords {
  readonly words: Int32Array
  readonly byteLength: number
}

export function toTextWords(text: string): TextWords {
  const bytes = Buffer.alloc((text.length + 3) & ~3, 0)
  bytes.write(text, 'latin1')
  const words = Int32Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readInt32LE(4 * i))
  return { words, byteLength: text.length }
}

/** The texts that depend only on the window of a command. */
export interface WindowText {
  readonly window: number
  /** The length of the window in decimal. */
  readonly digits: number
  /** The end of a name. */
  readonly line: TextWords
  /** The end of a name and the word `1`, which end the command. */
  readonly countOne: TextWords
}

/** A power of two; the windows of all units that are in use at the same time rarely share a slot. */
const slots = 64
const slotShift = 26

/** Most commands of a second have the same few windows: one for each unit. */
export class WindowTexts {
  readonly #slots: WindowText[] = new Array(slots).fill(first)

  find(window: number): WindowText {
    const slot = Math.imul(window, 0x9e3779b1) >>> slotShift
    const found = this.#slots[slot]
    if (found !== undefined && found.window === window) return found
    const text = toWindowText(window)
    this.#slots[slot] = text
    return text
  }
}

function toWindowText(window: number): WindowText {
  const text = `${window}`
  return {
    window,
    digits: text.length,
    line: toTextWords(`${text}\r\n`),
    countOne: toTextWords(`${text}\r\n$1\r\n1\r\n`),
  }
}

const first = toWindowText(0)

/** Longer names are rare. */
const longestName = 256

const countHeads: (TextWords | undefined)[] = new Array(longestName + 1).fill(undefined)

/** Returns the text of an `INCRBY` up to a name of this length; undefined for a long name. */
export function findCountHead(nameBytes: number): TextWords | undefined {
  if (nameBytes > longestName) return undefined
  const known = countHeads[nameBytes]
  if (known !== undefined) return known
  const head = toTextWords(`*3\r\n$6\r\nINCRBY\r\n$${nameBytes}\r\n`)
  countHeads[nameBytes] = head
  return head
}
