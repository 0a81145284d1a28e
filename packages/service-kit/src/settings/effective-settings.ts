import { isDeepStrictEqual } from 'node:util'
import { type AnyVariable, type Chapters, hideAll, hideCredentials, type Reading } from './env.ts'

/** Where a value comes from. */
export type SettingSource = 'default' | 'argument' | 'environment' | 'file'

/** A setting as a server uses it, in the form in which servers report it to operators. */
export interface EffectiveSetting {
  readonly name: string
  /** The title of its chapter in the manual. */
  readonly chapter: string
  /** One line. */
  readonly help: string
  readonly type: string
  readonly default: string
  readonly source: SettingSource
  /** The name under which it is set, if that is an alias. */
  readonly set_as?: string
  /** The file that sets it. */
  readonly file?: string
  /** Whether the value is never shown; `is_set` shows whether there is one. */
  readonly is_secret: boolean
  readonly is_set: boolean
  /** Whether the value differs from the default. */
  readonly is_changed: boolean
  /** Null if it is secret. Passwords in URLs are hidden. */
  readonly value: string | null
}

/**
 * Lists all settings with their values and sources. Secrets are declared with the variables: `mask: hideAll`
 * hides a value completely, and other masks hide a part of it.
 * @param sources the kinds of the sources that were read, in the same order.
 */
export function listEffectiveSettings<C extends Chapters>(
  chapters: C,
  reading: Reading<C>,
  sources: readonly SettingSource[],
): readonly EffectiveSetting[] {
  const values = reading.settings as Readonly<Record<string, Readonly<Record<string, unknown>>>>
  return Object.entries(chapters).flatMap(([chapter, { title, variables }]) =>
    Object.entries(variables).map(([key, variable]): EffectiveSetting => {
      const { name, help, type, defaultText } = variable
      const origin = reading.findOrigin(variable)
      const isSecret = variable.mask === hideAll
      const isChanged = !isDeepStrictEqual(values[chapter]?.[key], variable.default)
      return {
        name,
        chapter: title,
        help,
        type: type.name,
        default: defaultText,
        source: origin === undefined ? 'default' : (sources[origin.source] ?? 'environment'),
        ...(origin !== undefined && origin.name !== name && { set_as: origin.name }),
        is_secret: isSecret,
        is_set: origin !== undefined && origin.text !== '',
        is_changed: isChanged,
        value: isSecret ? null : toShown(variable, origin?.text),
      }
    }),
  )
}

/** Hides credentials in every URL, in case an operator put them into a variable that has no mask. */
function toShown(variable: AnyVariable, text: string | undefined): string {
  if (text === undefined) return variable.defaultText
  const masked = variable.mask(text)
  return masked.includes('://') ? hideCredentials(masked) : masked
}
