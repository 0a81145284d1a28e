import { createHash } from 'node:crypto'
import type { Dependencies, Dependency } from './lock-file.ts'

/** The fields of a component in a CycloneDX document that are written here. */
export interface Component {
  readonly type: 'library' | 'application' | 'container' | 'operating-system'
  readonly 'bom-ref': string
  readonly name: string
  readonly version: string
  readonly purl?: string
  readonly scope?: 'required' | 'optional'
  readonly licenses?: readonly ({ license: { id: string } } | { expression: string })[]
  readonly hashes?: readonly { alg: string; content: string }[]
}

export interface Bom {
  readonly bomFormat: 'CycloneDX'
  readonly specVersion: '1.6'
  readonly serialNumber: string
  readonly version: 1
  readonly metadata: { readonly component: Component }
  readonly components: readonly Component[]
  readonly dependencies: readonly { ref: string; dependsOn: readonly string[] }[]
}

export interface BomParts {
  readonly subject: Component
  readonly components: readonly Component[]
  /** The direct dependencies of each component, by `bom-ref`. */
  readonly needs: ReadonlyMap<string, readonly string[]>
}

/** Creates a document. The same parts always give the same document, so that two documents can be compared. */
export function toBom({ subject, components, needs }: BomParts): Bom {
  const sorted = components.toSorted((a, b) => compare(a['bom-ref'], b['bom-ref']))
  const dependencies = [subject, ...sorted].map(({ 'bom-ref': ref }) => ({
    ref,
    dependsOn: (needs.get(ref) ?? []).toSorted(compare),
  }))
  const content = JSON.stringify([subject, sorted, dependencies])
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${toUuid(content)}`,
    version: 1,
    metadata: { component: subject },
    components: sorted,
    dependencies,
  }
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

/** A UUID of version 8 (RFC 9562), derived from a text. */
function toUuid(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  const [a, b, c] = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(13, 16)]
  return `${a}-${b}-8${c}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** The package URL of an npm package, see https://github.com/package-url/purl-spec. */
const toNpmUrl = (name: string, version: string) => `pkg:npm/${name.replace('@', '%40')}@${version}`

export function toNpmComponent(dependency: Dependency): Component {
  const { name, version, licence, integrity, isOptional } = dependency
  return {
    type: 'library',
    'bom-ref': toNpmUrl(name, version),
    name,
    version,
    purl: toNpmUrl(name, version),
    scope: isOptional ? 'optional' : 'required',
    ...(licence !== '' && { licenses: [toLicence(licence)] }),
    ...(integrity !== undefined && { hashes: integrity.split(' ').map(toHash) }),
  }
}

function toLicence(licence: string) {
  return / (?:AND|OR|WITH) /.test(licence) ? { expression: licence } : { license: { id: licence } }
}

const algorithms: Readonly<Record<string, string>> = {
  sha1: 'SHA-1',
  sha256: 'SHA-256',
  sha384: 'SHA-384',
  sha512: 'SHA-512',
}

function toHash(integrity: string) {
  const [name = '', value = ''] = integrity.split(/-(.*)/s)
  return { alg: algorithms[name] ?? name, content: Buffer.from(value, 'base64').toString('hex') }
}

/** The bill of materials of a package of this repository. */
export function toPackageBom(
  { name, version, license }: { name: string; version: string; license: string },
  dependencies: Dependencies,
): Bom {
  const ref = toNpmUrl(name, version)
  const subject: Component = {
    type: 'library',
    'bom-ref': ref,
    name,
    version,
    purl: ref,
    licenses: [toLicence(license)],
  }
  return toBom({
    subject,
    components: [...dependencies.all.values()].map(toNpmComponent),
    needs: toNeeds(ref, dependencies),
  })
}

/** The direct dependencies of the subject and of each package, by `bom-ref`. */
export function toNeeds(subject: string, { direct, all }: Dependencies): Map<string, string[]> {
  const toRefs = (ids: readonly string[]) =>
    [...new Set(ids)].flatMap((id) => {
      const found = all.get(id)
      return found ? [toNpmUrl(found.name, found.version)] : []
    })
  const needs = [...all.values()].map(
    ({ name, version, needs: ids }) => [toNpmUrl(name, version), toRefs(ids)] as const,
  )
  return new Map([...needs, [subject, toRefs(direct)]])
}
