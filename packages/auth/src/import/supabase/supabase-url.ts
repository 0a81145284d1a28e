import { toReason } from '@portcullis/service-kit/text/reason'
import { parseConnectionUrl } from '../../db/connection/connection-url.ts'
import { ImportError } from '../import-error.ts'

export interface SupabaseUrl {
  /** The URL of the database, without the parameter for the schema. */
  readonly url: string
  readonly schema: string
  /** Host and port in lower case; several are separated by commas. */
  readonly server: string
  /** Host, database and schema for messages, without the password. */
  readonly label: string
  /** The command-line option or the variable that has the URL, for messages. */
  readonly option: string
}

/**
 * Parses `postgres://…/db?schema=auth`. The URLs in configurations of Supabase Auth have
 * `search_path=auth` instead, which is accepted too.
 * @throws {ImportError}
 */
export function parseSupabaseUrl(text: string, option: string): SupabaseUrl {
  const [base = '', query = ''] = text.split('?', 2)
  const parameters = query.split('&').filter((pair) => pair !== '')
  const isSchema = (pair: string) => /^(?:schema|search_path)=/.test(pair)
  const named = parameters.find(isSchema)
  // A search path may list several schemas; Supabase Auth uses the first one.
  const [first = ''] = decodeURIComponent(named?.replace(/^[^=]*=/, '') ?? '').split(',')
  const schema = first.trim() || 'auth'
  const others = parameters.filter((pair) => !isSchema(pair))
  const url = others.length === 0 ? base : `${base}?${others.join('&')}`
  try {
    const { hosts, database } = parseConnectionUrl(url)
    const places = hosts.map(({ host = 'localhost', port = 5432 }) => `${host}:${port}`)
    const server = places.join(',').toLowerCase()
    const label = `${places.join(',')}/${database ?? ''}, schema "${schema}"`
    return { url, schema, server, label, option }
  } catch (error) {
    throw new ImportError(`The URL in ${option} ${toReason(error)}`, { cause: error })
  }
}
