import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { run } from '../bare-system/run.ts'

/** The schemas come from Go modules, because Go's module proxy is reachable in some networks where GitHub is not. */
const kubernetes = 'k8s.io/kubernetes@v1.36.3'
const customResources = [
  {
    module: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    folder: 'example/prometheus-operator-crd',
    files: ['monitoring.coreos.com_servicemonitors.yaml'],
  },
  {
    module: 'github.com/envoyproxy/gateway@v1.9.1',
    folder: 'charts/gateway-helm/charts/crds/crds',
    files: [
      'gatewayapi-crds.yaml',
      'generated/gateway.envoyproxy.io_backendtrafficpolicies.yaml',
      'generated/gateway.envoyproxy.io_clienttrafficpolicies.yaml',
      'generated/gateway.envoyproxy.io_httproutefilters.yaml',
      'generated/gateway.envoyproxy.io_securitypolicies.yaml',
    ],
  },
  {
    module: 'istio.io/api@v1.31.1',
    folder: 'kubernetes',
    files: ['customresourcedefinitions.gen.yaml'],
  },
]

/** The fields of a JSON schema that are read here. */
interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly format?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
  readonly 'x-kubernetes-group-version-kind'?: readonly Kind[]
}

interface Kind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** The `-schema-location` of kubeconform for a folder that `writeSchemas` has filled. */
export const toSchemaLocation = (folder: string) =>
  join(folder, '{{ .ResourceKind }}{{ .KindSuffix }}.json')

/** Writes a schema file for each kind of object: the built-in ones, and those of the custom resources. */
export async function writeSchemas(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const write = (kind: Kind, schema: object) =>
    writeFileSync(join(folder, `${toFileName(kind)}.json`), JSON.stringify(schema))
  for (const [kind, schema] of await readBuiltIn()) write(kind, schema)
  for (const { module, folder: below, files } of customResources) {
    const source = await downloadModule(module)
    for (const file of files) {
      const text = readFileSync(join(source, below, file), 'utf8')
      for (const [kind, schema] of readDefinitions(text)) write(kind, schema)
    }
  }
}

/** The file name, without its extension, under which kubeconform looks for the schema of a kind. */
export function toFileName({ group, version, kind }: Kind): string {
  const [prefix = ''] = group.split('.')
  return [kind, ...(prefix === '' ? [] : [prefix]), version].join('-').toLowerCase()
}

async function downloadModule(module: string): Promise<string> {
  const output = await run('go', ['mod', 'download', '-json', module])
  return JSON.parse(output).Dir
}

async function readBuiltIn(): Promise<[Kind, object][]> {
  const file = join(await downloadModule(kubernetes), 'api/openapi-spec/swagger.json')
  const { definitions } = JSON.parse(readFileSync(file, 'utf8'))
  const strict: Record<string, object> = {}
  for (const [name, schema] of Object.entries<Schema>(definitions)) {
    strict[name] = alternatives[name] ?? toStrict(schema)
  }
  return Object.entries<Schema>(definitions).flatMap(([name, schema]) => {
    const kinds = schema['x-kubernetes-group-version-kind'] ?? []
    // A schema without a kind is part of others. Kinds in several groups, such as DeleteOptions, are not in any file.
    if (kinds.length !== 1) return []
    const needed = Object.fromEntries(
      [...collectReferences(name, definitions)].map((one) => [one, strict[one]]),
    )
    return kinds.map((kind): [Kind, object] => [
      kind,
      { $ref: `#/definitions/${name}`, definitions: needed },
    ])
  })
}

/** Types that are strings in the OpenAPI description, although the API also accepts numbers. */
const alternatives: Readonly<Record<string, object>> = {
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': { type: ['string', 'integer'] },
  'io.k8s.apimachinery.pkg.api.resource.Quantity': { type: ['string', 'number'] },
}

function collectReferences(
  name: string,
  definitions: Readonly<Record<string, Schema>>,
  found = new Set<string>(),
): Set<string> {
  if (found.has(name)) return found
  found.add(name)
  for (const [, next = ''] of JSON.stringify(definitions[name]).matchAll(
    /"#\/definitions\/([^"]+)"/g,
  )) {
    collectReferences(next, definitions, found)
  }
  return found
}

/** Fields that every object has. The definitions of custom resources do not declare them. */
const common = {
  apiVersion: { type: 'string' },
  kind: { type: 'string' },
  metadata: { type: 'object' },
}

export function readDefinitions(text: string): [Kind, object][] {
  return parseAllDocuments(text)
    .map((document) => document.toJS())
    .filter((object) => object?.kind === 'CustomResourceDefinition')
    .flatMap(({ spec: { group, names, versions } }) =>
      versions.map((one: { name: string; schema: { openAPIV3Schema: Schema } }) => {
        const { properties = {}, ...schema } = one.schema.openAPIV3Schema
        const strict = toStrict({ ...schema, properties: { ...properties, ...common } })
        return [{ group, version: one.name, kind: names.kind }, strict] as const
      }),
    )
}

/** Changes a schema to refuse unknown fields, which are usually misspelled. */
export function toStrict(schema: Schema): object {
  const { properties, additionalProperties, items, ...rest } = schema
  if (schema['x-kubernetes-int-or-string']) return { type: ['string', 'integer'] }
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true
  const below = properties && {
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, one]) => [name, toStrict(one)]),
    ),
  }
  const others =
    typeof additionalProperties === 'object'
      ? { additionalProperties: toStrict(additionalProperties) }
      : properties && !isOpen && { additionalProperties: false }
  return { ...rest, ...below, ...others, ...(items && { items: toStrict(items) }) }
}
