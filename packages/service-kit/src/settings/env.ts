import {
  booleanType,
  type ChoiceOptions,
  choiceType,
  durationType,
  integerType,
  listType,
  mapType,
  numberType,
  pathType,
  portType,
  type Range,
  stringType,
  type ValueType,
} from './value-types.ts'

/**
 * One environment variable, from which reading, validation, `--help` and the manual are derived.
 */
export interface Variable<Value> {
  readonly name: string
  /** Alternative names. The main name takes precedence, then the first alias that is set. */
  readonly aliases: readonly string[]
  readonly type: ValueType<Value>
  readonly default: Value
  /** The default as a user would write it. */
  readonly defaultText: string
  /** One line. */
  readonly help: string
  /** Hides the parts of a value that must not be shown. */
  readonly mask: (text: string) => string
  /** The error message for a value that the type rejects. */
  readonly refuse: (text: string) => string
}

export interface VariableOptions {
  readonly aliases?: readonly string[]
  /** A description of the default, if it is not a constant. */
  readonly defaultText?: string
  readonly mask?: Variable<unknown>['mask']
  readonly refuse?: Variable<unknown>['refuse']
}

// oxlint-disable-next-line typescript/no-explicit-any -- a table mixes values of every type; Settings has the exact types
export type AnyVariable = Variable<any>
export type Variables = Readonly<Record<string, AnyVariable>>

/** Variables that belong together, under a title for the manual. */
export interface Chapter<V extends Variables = Variables> {
  readonly title: string
  readonly variables: V
}
export type Chapters = Readonly<Record<string, Chapter>>

/** The values of one chapter's variables. */
export type Settings<V extends Variables> = {
  readonly [Key in keyof V]: V[Key] extends Variable<infer Value> ? Value : never
}
export type SettingsByChapter<C extends Chapters> = {
  readonly [Name in keyof C]: Settings<C[Name]['variables']>
}

export type Environment = Readonly<Record<string, string | undefined>>

/** A value that cannot be used. */
export interface Fault {
  /** The name as it was set, which may be an alias. */
  readonly variable: string
  /** The value, masked if it is secret; undefined if the variable is not set. */
  readonly value: string | undefined
  readonly message: string
}

export interface Reading<C extends Chapters> {
  /** An invalid variable has its default here. */
  readonly settings: SettingsByChapter<C>
  /** All errors, in the order of the chapters. */
  readonly faults: readonly Fault[]
  /** Warnings, which do not prevent the start. */
  readonly notes: readonly string[]
  /** The name under which a variable was set; undefined if its default is used. */
  nameAsSet(variable: AnyVariable): string | undefined
  /** Where a variable was set, and its text, which is not masked; undefined if its default is used. */
  findOrigin(variable: AnyVariable): Origin | undefined
  /** For checks that involve more than the type of one variable. */
  toFault(variable: AnyVariable, message: string): Fault
}

export interface Origin {
  readonly name: string
  readonly text: string
  /** The index of the source. */
  readonly source: number
}

export const boolean = define<boolean>(booleanType)
export const string = define<string>(stringType)
export const path = define<string>(pathType)
export const port = define<number>(portType)
export const list = define<readonly string[]>(listType)

export function integer(name: string, value: number, help: string, options?: Range & Options) {
  return define<number>(integerType(options))(name, value, help, options)
}

export function number(name: string, value: number, help: string, options?: Range & Options) {
  return define<number>(numberType(options))(name, value, help, options)
}

/** The value is in milliseconds; the default is written as an operator would write it. */
export function duration(
  name: string,
  defaultText: string,
  help: string,
  options: { readonly bareSeconds?: boolean } & Options = {},
): Variable<number> {
  const type = durationType(options)
  const value = type.parse(defaultText)
  if (value === undefined) throw new TypeError(`${name}: ${defaultText} is not a duration`)
  return define<number>(type)(name, value, help, { defaultText, ...options })
}

export function map(
  name: string,
  help: string,
  options: { readonly separator?: ':' | '=' } & Options = {},
): Variable<ReadonlyMap<string, string>> {
  const type = mapType(options.separator)
  return define<ReadonlyMap<string, string>>(type)(name, new Map(), help, options)
}

export function choice<const Choice extends string>(
  name: string,
  choices: readonly Choice[],
  value: NoInfer<Choice>,
  help: string,
  options?: ChoiceOptions<Choice> & Options,
): Variable<Choice> {
  return define<Choice>(choiceType(choices, options))(name, value, help, options)
}

type Options = VariableOptions

function define<Value>(type: ValueType<Value>) {
  return (name: string, value: Value, help: string, options: Options = {}): Variable<Value> => ({
    name,
    aliases: options.aliases ?? [],
    type,
    default: value,
    defaultText: options.defaultText ?? type.toText(value),
    help,
    mask: options.mask ?? String,
    refuse: options.refuse ?? (() => `must be ${type.allowed}`),
  })
}

/**
 * Gives every variable an additional name, derived from its main name: `KVSTORE_URL` → `REDIS_URL`.
 */
export function withAlias<V extends Variables>(variables: V, toAlias: (name: string) => string): V
export function withAlias(variables: Variables, toAlias: (name: string) => string): Variables {
  const renamed = Object.entries(variables).map(([key, variable]) => {
    const alias = toAlias(variable.name)
    if (alias === variable.name) return [key, variable]
    return [key, { ...variable, aliases: [...variable.aliases, alias] }]
  })
  return Object.fromEntries(renamed)
}

/** For passwords and keys: shows only that a value is set. */
export function hideAll(text: string): string {
  return text === '' ? '' : '*****'
}

const secretParameter =
  /([?&][^=&,\s]*(?:user|pass|pwd|secret|token|key|sig|auth|credential)[^=&,\s]*=)[^&,]*/gi

/**
 * For addresses: hides `user:password` in `redis://user:password@host`, and parameters such as
 * `?api_key=…`. A list is hidden up to its last @, because a password may contain any character.
 */
export function hideCredentials(text: string): string {
  return text.replace(/^([a-z]+:\/\/)?.*@/is, '$1*****@').replace(secretParameter, '$1*****')
}

/**
 * Reads all variables. The first source that contains any name of a variable takes precedence;
 * within one source, the main name takes precedence over the aliases.
 */
export function readSettings<const C extends Chapters>(
  chapters: C,
  ...sources: readonly Environment[]
): Reading<C>
export function readSettings(
  chapters: Chapters,
  ...sources: readonly Environment[]
): Reading<Chapters> {
  const faults: Fault[] = []
  const notes: string[] = []
  const found = new Map<AnyVariable, Origin>()

  const toFault = (variable: AnyVariable, message: string): Fault => {
    const { name, text } = found.get(variable) ?? { name: variable.name, text: undefined }
    return { variable: name, value: text === undefined ? undefined : variable.mask(text), message }
  }
  const readVariable = (variable: AnyVariable): unknown => {
    const texts = findTexts(variable, sources)
    const [first, ...others] = texts
    if (first === undefined) return variable.default
    found.set(variable, first)
    for (const other of others) {
      if (other.text === first.text) continue
      notes.push(`${first.name} and ${other.name} are both set: ${first.name} is used`)
    }
    const value = variable.type.parse(first.text)
    if (value !== undefined) return value
    faults.push(toFault(variable, variable.refuse(first.text)))
    return variable.default
  }

  const settings = mapValues(chapters, (chapter) => mapValues(chapter.variables, readVariable))
  return {
    settings,
    faults,
    notes,
    nameAsSet: (variable) => found.get(variable)?.name,
    findOrigin: (variable) => found.get(variable),
    toFault,
  }
}

function findTexts(variable: AnyVariable, sources: readonly Environment[]): Origin[] {
  const found: Origin[] = []
  for (const [source, texts] of sources.entries()) {
    for (const name of [variable.name, ...variable.aliases]) {
      const text = texts[name]
      if (text === undefined || (text.trim() === '' && !variable.type.takesEmpty)) continue
      if (!found.some((earlier) => earlier.name === name)) found.push({ name, text, source })
    }
  }
  return found
}

function mapValues<In, Out>(
  record: Readonly<Record<string, In>>,
  toValue: (value: In) => Out,
): Readonly<Record<string, Out>> {
  const entries = Object.entries(record).map(([key, value]) => [key, toValue(value)] as const)
  return Object.freeze(Object.fromEntries(entries))
}

/** `KVSTORE_POOL_SIZE="ten": must be a whole number of at least 1` */
export function toFaultText({ variable, value, message }: Fault): string {
  if (value !== undefined) return `${variable}=${JSON.stringify(value)}: ${message}`
  // "AUTH_SITE_URL is required" is a sentence; other messages do not continue the name.
  return /^(?:is|must|cannot|has|needs) /.test(message)
    ? `${variable} ${message}`
    : `${variable}: ${message}`
}
