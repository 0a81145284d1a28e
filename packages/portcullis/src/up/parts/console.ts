import { join } from 'node:path'
import { openConsole } from '../../console/console.ts'
import { processStartedAt } from '../../console/health/index.ts'
import { toAllowedHosts, toLocalHost } from '../addresses.ts'
import { limitsHistoryFile, toRulesDirectory } from '../data-folder.ts'
import type { StartPart } from '../part.ts'
import { createAdminKeys, toAuditHeaders, toDebugToken } from '../secrets.ts'
import { listApiSettings } from './graphql.ts'

export const startConsole: StartPart = async (context) => {
  const { host, allowedHosts, ports, secrets, version, folder, has, mailbox, env } = context
  const at = (port: number) => `http://${toLocalHost(host)}:${port}`
  const running = await openConsole({
    host,
    port: ports.console,
    allowedHosts: toAllowedHosts(context, allowedHosts),
    token: secrets.consoleToken,
    version,
    mailbox,
    ...(has.has('auth') && {
      auth: { url: at(ports.auth), key: createAdminKeys(secrets.jwtSecret) },
    }),
    ...(has.has('ratelimit') && {
      ratelimit: {
        debugUrl: at(ports.debug),
        debugToken: toDebugToken(secrets, env),
        url: at(ports.ratelimit),
        rulesDirectory: toRulesDirectory(folder),
        historyFile: join(folder, limitsHistoryFile),
      },
    }),
    ...(has.has('graphql') && {
      graphql: {
        url: `${at(ports.graphql)}/graphql`,
        auditHeaders: toAuditHeaders(secrets),
        startedAt: processStartedAt,
        settings: listApiSettings(context),
      },
    }),
  })
  return {
    async stop() {
      await running[Symbol.asyncDispose]()
    },
  }
}
