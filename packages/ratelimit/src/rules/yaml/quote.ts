/** What a message shows of a text from a file. */
const mostShown = 80

/** A text in quotes, cut: a key may be as long as its file. */
export function quote(text: string): string {
  return `'${cutText(text)}'`
}

export function cutText(text: string): string {
  return text.length > mostShown ? `${text.slice(0, mostShown)}…` : text
}
