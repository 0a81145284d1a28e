const quote = 0x22
const backslash = 0x5c
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/** Looks at the brackets outside of strings only: whether the JSON is valid is not asked. */
export function isNestedDeeperThan(json: Uint8Array, maxDepth: number): boolean {
  let depth = 0
  let isInString = false
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at]
    if (isInString) {
      if (byte === backslash) at += 1
      else if (byte === quote) isInString = false
    } else if (byte === quote) {
      isInString = true
    } else if (byte === openBrace || byte === openBracket) {
      depth += 1
      if (depth > maxDepth) return true
    } else if (byte === closeBrace || byte === closeBracket) {
      depth -= 1
    }
  }
  return false
}
