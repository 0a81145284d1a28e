/** The maximum length of a quoted text in a message. */
const mostShown = 80

/** Quotes a text and truncates it, because a key may be as long as its file. */
export function quote(text: string): string {
  return `'${cutText(text)}'`
}

export function cutText(text: string): string {
  return text.length > mostShown ? `${text.slice(0, mostShown)}…` : text
}
