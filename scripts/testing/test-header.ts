// The doc comment at the start of a test file, in which the file declares its needs:
//
//   /**
//    * @legs safety, endurance
//    * @servers redis, memcached
//    * @isolated measures the heap of its process
//    * @slow
//    */
//
// All tags are optional. CONTRIBUTING.md explains them.

export interface TestHeader {
  readonly legs: readonly string[]
  /** Names of `servers` in @portcullis/test-servers, including those that support files open. */
  readonly servers: readonly string[]
  /** Why the file needs its own process. */
  readonly isolatedBecause: string | undefined
  /** The file takes long, so it is started before the others and does not share a process. */
  readonly isSlow: boolean
}

export interface HeaderFault {
  readonly line: number
  readonly message: string
}

const readers = {
  legs: { takes: 'a list of legs', isValid: isList },
  servers: { takes: 'a list of servers', isValid: isList },
  isolated: { takes: 'a reason', isValid: (value: string) => value !== '' },
  slow: { takes: 'no value', isValid: (value: string) => value === '' },
} as const

type Tag = keyof typeof readers

const isTag = (name: string): name is Tag => Object.hasOwn(readers, name)

function isList(value: string): boolean {
  return toList(value).every((name) => /^[a-z0-9-]+$/.test(name))
}

const toList = (value: string) => value.split(',').map((name) => name.trim())

/** Parses the header in the source of a test file. A file without a header has no special needs. */
export function parseTestHeader(source: string): {
  readonly header: TestHeader
  readonly faults: readonly HeaderFault[]
} {
  const comment = /^\/\*\*.*?\*\//s.exec(source)?.[0] ?? ''
  const values = new Map<Tag, string>()
  const faults: HeaderFault[] = []
  for (const [index, text] of comment.split('\n').entries()) {
    const [, name, rest = ''] = /^(?:\/\*)?\s*\*+\s*@([\w-]+)(.*?)(?:\*\/)?$/.exec(text) ?? []
    if (name === undefined) continue
    const value = rest.trim()
    const line = index + 1
    if (!isTag(name)) {
      const known = Object.keys(readers).join(', @')
      faults.push({ line, message: `@${name} is not a tag of a test file; use @${known}` })
    } else if (values.has(name)) {
      faults.push({ line, message: `@${name} occurs twice` })
    } else if (!readers[name].isValid(value)) {
      faults.push({ line, message: `@${name} takes ${readers[name].takes}, not "${value}"` })
    } else {
      values.set(name, value)
    }
  }
  const listOf = (tag: Tag) => toList(values.get(tag) ?? '').filter((name) => name !== '')
  return {
    header: {
      legs: values.has('legs') ? listOf('legs') : ['main'],
      servers: listOf('servers'),
      isolatedBecause: values.get('isolated'),
      isSlow: values.has('slow'),
    },
    faults,
  }
}
