/** Where in a script a value would stand. */
export type ScriptPlace = 'code' | 'string' | 'comment'

type Ending = '"' | "'" | '`' | '*/' | '\n'

/** Follows a script just closely enough to know whether it is inside a string or a comment. */
export function createScriptReader() {
  let ending: Ending | undefined
  return {
    get place(): ScriptPlace {
      if (ending === undefined) return 'code'
      return ending === '*/' || ending === '\n' ? 'comment' : 'string'
    },
    read(text: string): void {
      for (let at = 0; at < text.length; at++) {
        if (ending === undefined) ending = toEnding(text, at)
        else if (text[at] === '\\' && ending !== '*/' && ending !== '\n') at++
        else if (text.startsWith(ending, at)) ending = undefined
      }
    },
  }
}

function toEnding(text: string, at: number): Ending | undefined {
  const character = text[at]
  if (character === '"' || character === "'" || character === '`') return character
  if (character !== '/') return undefined
  const next = text[at + 1]
  return next === '*' ? '*/' : next === '/' ? '\n' : undefined
}
