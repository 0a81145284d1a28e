import type { TestContext } from 'node:test'
import { send } from '../http-client.ts'
import { openSsoServer } from '../saml/sso-server.ts'
import { openSource, sourceEnvironment } from './open-source.ts'
import { runReport } from './run-report.ts'
import type { SourceRelease } from './schema.ts'

/** Opens a server with SAML, and a source with a company and a custom provider. */
export async function openCompanySource(t: TestContext, release: SourceRelease = '2.196') {
  const server = await openSsoServer(t, {
    ...sourceEnvironment,
    AUTH_CUSTOM_OAUTH_INTERNAL_HOSTS: '127.0.0.1',
  })
  if (!server) return undefined
  const source = await openSource(t, server.databaseUrl, release)
  const people = await source.addPeople()
  const importRows = (...args: readonly string[]) =>
    runReport(server, 'import', '--from', source.url, ...args)
  const exportRows = (...args: readonly string[]) =>
    runReport(server, 'export', '--to', source.url, ...args)
  const there = async (text: string, values: readonly unknown[] = []) =>
    (await source.client.query(text, [...values])).rows
  const admin = (method: string, path: string, body?: object) =>
    send(server.url, `/admin${path}`, {
      method,
      token: server.serviceToken,
      ...(body && { body }),
    })
  return { server, source, people, importRows, exportRows, there, admin }
}
