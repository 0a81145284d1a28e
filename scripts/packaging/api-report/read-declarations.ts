import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { type ParseResult, parse } from '@babel/parser'

type Statement = ParseResult['program']['body'][number]
type ClassMember = Extract<Statement, { type: 'ClassDeclaration' }>['body']['body'][number]
type TypeMember = Extract<Statement, { type: 'TSInterfaceDeclaration' }>['body']['body'][number]

/** An export of a package. */
export interface Declaration {
  /** Its name in the file that declares it. */
  readonly name: string
  /** The file that declares it, relative to the package. */
  readonly file: string
  /** TypeScript without comments; several for overloads. */
  readonly code: readonly string[]
  readonly isDocumented: boolean
  /** The members of interfaces, classes and aliases of object types. */
  readonly members: readonly Member[]
  /** The interfaces that an interface extends. */
  readonly bases: readonly string[]
}

export interface Member {
  readonly name: string
  readonly isDocumented: boolean
}

/** A module of declarations (`.d.ts`), reduced to what its exports need. */
interface Module {
  /** The statements that declare each local name. */
  readonly declared: ReadonlyMap<string, readonly Statement[]>
  /** For each exported name, the name in this module, or in the module `from` if it is re-exported. */
  readonly exported: ReadonlyMap<
    string,
    { readonly name: string; readonly from: string | undefined }
  >
  /** Modules that are re-exported completely. */
  readonly stars: readonly string[]
  readonly text: string
}

/** Reads the declarations that tsc wrote for a package. */
export class DeclarationReader {
  readonly #folder: string
  readonly #modules = new Map<string, Module>()

  /** @param folder the folder to which paths are relative */
  constructor(folder: string) {
    this.#folder = folder
  }

  /** Every export of a module, by name. Exports from other packages are left out. */
  readExports(file: string): ReadonlyMap<string, Declaration> {
    const found = new Map<string, Declaration>()
    const { exported, stars } = this.#open(file)
    for (const star of stars) {
      const other = resolve(file, star)
      if (other === undefined) continue
      for (const [name, declaration] of this.readExports(other)) found.set(name, declaration)
    }
    for (const name of exported.keys()) {
      const declaration = this.#find(file, name)
      if (declaration !== undefined) found.set(name, declaration)
    }
    return found
  }

  #find(file: string, exportedName: string): Declaration | undefined {
    const module = this.#open(file)
    const target = module.exported.get(exportedName)
    if (target === undefined) {
      return module.stars
        .map((star) => resolve(file, star))
        .map((other) => (other === undefined ? undefined : this.#find(other, exportedName)))
        .find((declaration) => declaration !== undefined)
    }
    const { name, from } = target
    if (from !== undefined) {
      const other = resolve(file, from)
      return other === undefined ? undefined : this.#find(other, name)
    }
    const statements = module.declared.get(name)
    if (statements === undefined) {
      throw new Error(`${relative(this.#folder, file)} exports ${name} without declaring it`)
    }
    return {
      name,
      file: relative(this.#folder, file),
      code: statements.map((statement) => toCode(statement, module.text)),
      // One comment is enough for several overloads.
      isDocumented: statements.some(isDocumented),
      members: statements.flatMap((statement) => listMembers(statement, module.text)),
      bases: statements.flatMap(listBases),
    }
  }

  #open(file: string): Module {
    const known = this.#modules.get(file)
    if (known !== undefined) return known
    const text = readFileSync(file, 'utf8')
    const { program } = parse(text, {
      sourceType: 'module',
      plugins: [['typescript', { dts: true }]],
    })
    const module = toModule(program.body, text)
    this.#modules.set(file, module)
    return module
  }
}

/** The declarations of a relative import; undefined for an import from another package. */
function resolve(file: string, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined
  return join(dirname(file), specifier.replace(/\.[jt]s$/, '.d.ts'))
}

function toModule(body: readonly Statement[], text: string): Module {
  const declared = new Map<string, Statement[]>()
  const exported = new Map<string, { name: string; from: string | undefined }>()
  const stars: string[] = []
  const imported = new Map<string, { name: string; from: string }>()
  const declare = (statement: Statement, from: Statement): string[] =>
    namesOf(statement).map((name) => {
      // The comment is before `export`, so the whole statement is kept.
      declared.set(name, [...(declared.get(name) ?? []), from])
      return name
    })
  for (const statement of body) {
    if (statement.type === 'ImportDeclaration') {
      for (const specifier of statement.specifiers) {
        if (specifier.type !== 'ImportSpecifier') continue
        const name = toText(specifier.imported)
        imported.set(specifier.local.name, { name, from: statement.source.value })
      }
    } else if (statement.type === 'ExportAllDeclaration') {
      stars.push(statement.source.value)
    } else if (statement.type === 'ExportNamedDeclaration') {
      if (statement.declaration) {
        for (const name of declare(statement.declaration, statement)) {
          exported.set(name, { name, from: undefined })
        }
      }
      for (const specifier of statement.specifiers) {
        if (specifier.type !== 'ExportSpecifier') continue
        exported.set(toText(specifier.exported), {
          name: specifier.local.name,
          from: statement.source?.value,
        })
      }
    } else declare(statement, statement)
  }
  for (const [name, target] of exported) {
    const source = target.from === undefined ? imported.get(target.name) : undefined
    if (source !== undefined) exported.set(name, source)
  }
  return { declared, exported, stars, text }
}

function namesOf(statement: Statement): string[] {
  switch (statement.type) {
    case 'VariableDeclaration':
      return statement.declarations.flatMap(({ id }) => (id.type === 'Identifier' ? [id.name] : []))
    case 'TSDeclareFunction':
    case 'ClassDeclaration':
      return statement.id ? [statement.id.name] : []
    case 'TSInterfaceDeclaration':
    case 'TSTypeAliasDeclaration':
    case 'TSEnumDeclaration':
      return [statement.id.name]
    default:
      return []
  }
}

function toText(name: { readonly type: string; readonly name?: string; readonly value?: string }) {
  return name.name ?? name.value ?? ''
}

function listMembers(statement: Statement, text: string): Member[] {
  const declaration =
    statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
  const members = findMembers(declaration)
  const byName = new Map<string, boolean>()
  for (const member of members) {
    if (isPrivate(member)) continue
    const name = toMemberName(member, text)
    byName.set(name, byName.get(name) === true || isDocumented(member))
  }
  return [...byName].map(([name, isMemberDocumented]) => ({
    name,
    isDocumented: isMemberDocumented,
  }))
}

function listBases(statement: Statement): string[] {
  const declaration =
    statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
  if (declaration?.type !== 'TSInterfaceDeclaration') return []
  return (declaration.extends ?? []).flatMap(({ expression }) =>
    expression.type === 'Identifier' ? [expression.name] : [],
  )
}

function findMembers(declaration: Statement | null | undefined): (TypeMember | ClassMember)[] {
  if (declaration?.type === 'TSInterfaceDeclaration') return declaration.body.body
  if (declaration?.type === 'ClassDeclaration') {
    // The property `name` of an error class needs no comment.
    const hasOwnName = declaration.superClass != null
    return declaration.body.body.filter((member) => !(hasOwnName && isName(member)))
  }
  if (declaration?.type !== 'TSTypeAliasDeclaration') return []
  const { typeAnnotation } = declaration
  return typeAnnotation.type === 'TSTypeLiteral' ? typeAnnotation.members : []
}

function isName(member: ClassMember): boolean {
  return (
    member.type === 'ClassProperty' &&
    member.key.type === 'Identifier' &&
    member.key.name === 'name'
  )
}

function isPrivate(member: TypeMember | ClassMember): boolean {
  if (member.type === 'ClassPrivateProperty' || member.type === 'ClassPrivateMethod') return true
  return 'accessibility' in member && member.accessibility === 'private'
}

function toMemberName(member: TypeMember | ClassMember, text: string): string {
  if (!('key' in member) || !member.key) {
    return member.type === 'TSIndexSignature' ? '[index]' : '(call)'
  }
  const { start, end } = member.key
  const name = text.slice(start ?? 0, end ?? 0)
  return 'computed' in member && member.computed ? `[${name}]` : name
}

interface Commented {
  readonly leadingComments?: readonly { readonly type: string; readonly value: string }[] | null
}

function isDocumented({ leadingComments }: Commented): boolean {
  return (leadingComments ?? []).some(
    ({ type, value }) => type === 'CommentBlock' && value.startsWith('*'),
  )
}

/** The text of a statement without its comments and empty lines. */
function toCode({ start, end }: Statement, text: string): string {
  const code = text
    .slice(start ?? 0, end ?? 0)
    .replaceAll(/\/\*\*.*?\*\//gs, '')
    .replaceAll(/\n\s*\n/g, '\n')
    .replaceAll(/[ \t]+$/gm, '')
  return code.replace(/^export (?:declare )?/, '')
}
