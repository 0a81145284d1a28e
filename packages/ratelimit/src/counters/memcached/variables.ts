import type { Check } from '@portcullis/service-kit/config-check'
import {
  boolean,
  type Chapter,
  duration,
  integer,
  list,
  path,
  type Settings,
  string,
  withAlias,
} from '@portcullis/service-kit/env'
import { type ClientTlsConfig, toClientTls } from '../../tls/client-tls-settings.ts'

export const memcachedChapter = {
  title: 'memcached (BACKEND_TYPE=distcache)',
  variables: withAlias(
    {
      hosts: list(
        'DISTCACHE_HOST_PORT',
        [],
        'host:port of every node, the same list in the same order everywhere',
      ),
      srv: string('DISTCACHE_SRV', '', 'SRV record that names the nodes, in place of the list'),
      srvRefreshMs: duration(
        'DISTCACHE_SRV_REFRESH',
        '0',
        'How often the record is looked up again; a bare number is seconds, 0: never',
        { bareSeconds: true },
      ),
      maxIdleConnections: integer(
        'DISTCACHE_MAX_IDLE_CONNS',
        2,
        'Idle connections that are kept per node',
        { max: 10_000 },
      ),
      tls: boolean('DISTCACHE_TLS', false, 'Whether to speak TLS with the nodes'),
      tlsCert: path('DISTCACHE_TLS_CLIENT_CERT', '', 'Our certificate for the nodes, PEM'),
      tlsKey: path('DISTCACHE_TLS_CLIENT_KEY', '', 'The key of our certificate, PEM'),
      tlsCa: path('DISTCACHE_TLS_CACERT', '', "The nodes' CA, besides those of the system, PEM"),
      tlsSkipHostname: boolean(
        'DISTCACHE_TLS_SKIP_HOSTNAME_VERIFICATION',
        false,
        'Whether a certificate for another host name is good enough',
      ),
    },
    (name) => name.replace(/^DISTCACHE_/, 'MEMCACHE_'),
  ),
} satisfies Chapter

export interface MemcachedConfig {
  readonly kind: 'memcached'
  readonly nodes: MemcachedNodes
  readonly maxIdleConnections: number
  readonly tls: (ClientTlsConfig & { readonly skipsHostname: boolean }) | undefined
}

export type MemcachedNodes =
  | { readonly kind: 'list'; readonly hosts: readonly string[] }
  /** `refreshMs` 0: never again. */
  | { readonly kind: 'srv'; readonly record: string; readonly refreshMs: number }

type MemcachedSettings = Settings<typeof memcachedChapter.variables>

export function toMemcached(settings: MemcachedSettings, check: Check): MemcachedConfig {
  const { variables } = memcachedChapter
  const tls = toClientTls(
    { cert: variables.tlsCert, key: variables.tlsKey, ca: variables.tlsCa },
    { cert: settings.tlsCert, key: settings.tlsKey, ca: settings.tlsCa },
    check,
  )
  return {
    kind: 'memcached',
    nodes: toNodes(settings, check),
    maxIdleConnections: settings.maxIdleConnections,
    tls: settings.tls ? { ...tls, skipsHostname: settings.tlsSkipHostname } : undefined,
  }
}

function toNodes({ hosts, srv, srvRefreshMs }: MemcachedSettings, check: Check): MemcachedNodes {
  const { variables } = memcachedChapter
  const names = [variables.hosts, variables.srv].map((variable) => check.nameOf(variable))
  if (hosts.length > 0 && srv !== '') {
    check.fault(variables.srv, `Both ${names.join(' and ')} are set: one of them must go`)
  } else if (hosts.length === 0 && srv === '') {
    check.fault(variables.hosts, `must list host:port of the nodes, or ${names[1]} name a record`)
  }
  const unclear = hosts.find((host) => !/^[^/]+:\d+$/.test(host) && !host.startsWith('/'))
  if (unclear !== undefined) {
    check.fault(variables.hosts, `must be host:port items, which ${unclear} is not`)
  }
  if (srv !== '' && !/^_[^.]+\._[^.]+\..+$/.test(srv)) {
    check.fault(variables.srv, 'must be a record written _service._proto.name')
  }
  if (srv === '') return { kind: 'list', hosts }
  return { kind: 'srv', record: srv, refreshMs: srvRefreshMs }
}
