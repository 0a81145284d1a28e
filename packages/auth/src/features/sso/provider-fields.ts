import { invalid } from '../../errors.ts'
import { nameIdFormats } from '../../saml/service-provider.ts'
import { findUnstorable, type Json } from '../../stored-json.ts'
import type { AttributeMapping, AttributeRule } from './statements/providers.ts'

/** The fields of a request. Names and messages are those of Supabase Auth. */
export interface ProviderFields {
  readonly metadata_url?: string
  readonly metadata_xml?: string
  readonly domains?: readonly string[]
  readonly attribute_mapping?: unknown
  readonly name_id_format?: string
  readonly resource_id?: string
  readonly disabled?: boolean
}

const formats: readonly string[] = Object.values(nameIdFormats)

/** Checks the fields that are present. @throws {ApiError} */
export function checkProviderFields(fields: ProviderFields): void {
  const { metadata_url: url = '', metadata_xml: xml = '', name_id_format: format = '' } = fields
  if (url !== '' && xml !== '') {
    throw invalid('Only one of metadata_xml or metadata_url needs to be set')
  }
  if (url !== '') checkMetadataUrl(url)
  if (xml.includes('\u0000')) throw invalid('metadata_xml has a character that cannot be stored')
  if (format !== '' && !formats.includes(format)) {
    throw invalid(`name_id_format must be unspecified or one of ${formats.join(', ')}`)
  }
  const { resource_id: resourceId = '' } = fields
  if (!/^[\x21-\x7e]{0,255}$/.test(resourceId)) {
    throw invalid('resource_id must have at most 255 ASCII characters without spaces')
  }
}

function checkMetadataUrl(text: string): void {
  const url = URL.parse(text)
  if (url === null || text.length > 2_048) throw invalid('metadata_url is not a valid URL')
  if (url.protocol !== 'https:') throw invalid('metadata_url is not a HTTPS URL')
  if (url.username !== '') throw invalid('metadata_url must not contain a user name')
}

const mostDomains = 200
const domainPattern = /^(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)*[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/

/** Returns the domains in lower case, without duplicates. @throws {ApiError} */
export function parseDomains(domains: readonly string[]): readonly string[] {
  if (domains.length > mostDomains) throw invalid(`domains cannot exceed ${mostDomains} items`)
  return [...new Set(domains.map(parseDomain))]
}

/** @throws {ApiError} */
export function parseDomain(text: string): string {
  const domain = text.trim().toLowerCase()
  if (domain.length <= 253 && domainPattern.test(domain)) return domain
  throw invalid(`'${text.slice(0, 100)}' is not a domain such as example.com`)
}

const mostKeys = 100

/** @throws {ApiError} */
export function parseMapping(mapping: unknown = {}): AttributeMapping {
  const { keys } = toObject(mapping, 'attribute_mapping')
  if (keys === undefined || keys === null) return {}
  const rules = Object.entries(toObject(keys, 'attribute_mapping.keys'))
  if (rules.length > mostKeys) throw invalid(`attribute_mapping cannot exceed ${mostKeys} keys`)
  return { keys: Object.fromEntries(rules.map(([key, rule]) => [key, parseRule(key, rule)])) }
}

function parseRule(key: string, value: unknown): AttributeRule {
  const where = `attribute_mapping.keys.${key}`
  const { name, names, default: byDefault, array } = toObject(value, where)
  if (name !== undefined && typeof name !== 'string')
    throw invalid(`${where}.name must be a string`)
  if (names !== undefined && !isTexts(names)) throw invalid(`${where}.names must be strings`)
  if (array !== undefined && typeof array !== 'boolean') {
    throw invalid(`${where}.array must be true or false`)
  }
  const rule: AttributeRule = {
    ...(name !== undefined && { name }),
    ...(names !== undefined && { names }),
    ...(byDefault !== undefined && { default: byDefault as Json }),
    ...(array !== undefined && { array }),
  }
  if (findUnstorable({ [key]: { ...rule } }) !== undefined) {
    throw invalid(`${where} has a value that cannot be stored`)
  }
  return rule
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

function toObject(value: unknown, where: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  throw invalid(`${where} must be an object`)
}
