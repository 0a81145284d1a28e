/** Six to ten digits that stand alone on a line; or, in a sentence, soon after what names them. */
const alone = /^[ \t]*(\d{6,10})[ \t]*$/m
const named = /\b(?:code|otp|pin|passcode|password)\b[^\d\n]{0,40}\b(\d{6,10})\b(?![-./@]?\w)/i

/** The code that a message asks to type in. */
export function findCode(text: string): string | undefined {
  const words = text.replace(/https?:\/\/\S+/gi, ' ')
  return (alone.exec(words) ?? named.exec(words))?.[1]
}
