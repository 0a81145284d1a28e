import { Fragment, type JSX } from 'preact'
import { isApple } from '../shortcuts.ts'

const names: Readonly<Record<string, string>> = {
  ArrowUp: '↑',
  ArrowDown: '↓',
  ArrowLeft: '←',
  ArrowRight: '→',
  PageUp: 'Page up',
  PageDown: 'Page down',
  Escape: 'Esc',
}

/** Arrows as characters are read as symbols, or not at all. */
const spoken: Readonly<Record<string, string>> = {
  ArrowUp: 'Up arrow',
  ArrowDown: 'Down arrow',
  ArrowLeft: 'Left arrow',
  ArrowRight: 'Right arrow',
}

/** Shows the keys of a shortcut as the user's keyboard labels them. */
export function Keys({ keys }: { readonly keys: string }): JSX.Element {
  return (
    <span class="keys">
      {keys.split(' ').map((key, index) => (
        <Fragment key={key}>
          {index > 0 && ' '}
          {toCombination(key).map((part, at) => (
            <Fragment key={part}>
              {at > 0 && '+'}
              <kbd>
                {spoken[part] === undefined ? (
                  (names[part] ?? part)
                ) : (
                  <>
                    <span aria-hidden="true">{names[part]}</span>
                    <span class="hidden">{spoken[part]}</span>
                  </>
                )}
              </kbd>
            </Fragment>
          ))}
        </Fragment>
      ))}
    </span>
  )
}

function toCombination(key: string): readonly string[] {
  const [, rest] = /^Mod\+(.+)$/.exec(key) ?? []
  return rest === undefined ? [key] : [isApple ? '⌘' : 'Ctrl', rest.toUpperCase()]
}
