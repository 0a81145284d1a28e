import type { Check } from '@portcullis/service-kit/settings/config-check'
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
} from '@portcullis/service-kit/settings/env'
import { type ClientTlsConfig, toClientTls } from '../../tls/client-tls-settings.ts'

export const memcachedChapter = {
  title: 'memcached (BACKEND_TYPE=distcache)',
  variables: withAlias(
    {
      hosts: list(
        'DISTCACHE_HOST_PORT',
        [],
        'host:port of every node; all instances need the same list in the same order',
      ),
      srv: string(
        'DISTCACHE_SRV',
        '',
        'SRV record that lists the nodes, instead of the list above',
      ),
      srvRefreshMs: duration(
        'DISTCACHE_SRV_REFRESH',
        '0',
        'How often the SRV record is looked up again; a number without a unit means seconds; 0: never',
        { bareSeconds: true },
      ),
      maxIdleConnections: integer(
        'DISTCACHE_MAX_IDLE_CONNS',
        2,
        'Maximum number of connections per node',
        { max: 10_000 },
      ),
      tls: boolean('DISTCACHE_TLS', false, 'Whether to use TLS for connections to the nodes'),
      tlsCert: path('DISTCACHE_TLS_CLIENT_CERT', '', 'Client certificate file, PEM'),
      tlsKey: path(
        'DISTCACHE_TLS_CLIENT_KEY',
        '',
        'Private key file of the client certificate, PEM',
      ),
      tlsCa: path(
        'DISTCACHE_TLS_CACERT',
        '',
        'CA file to verify the nodes, in addition to the system CAs, PEM',
      ),
      tlsSkipHostname: boolean(
        'DISTCACHE_TLS_SKIP_HOSTNAME_VERIFICATION',
        false,
        'Whether to skip the check of the host name in the certificate',
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
  /** With `refreshMs` 0 the record is looked up only once. */
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
    check.fault(variables.srv, `${names.join(' and ')} are both set: remove one of them`)
  } else if (hosts.length === 0 && srv === '') {
    check.fault(
      variables.hosts,
      `must list host:port of the nodes, unless ${names[1]} names a record`,
    )
  }
  const unclear = hosts.find((host) => !/^[^/]+:\d+$/.test(host) && !host.startsWith('/'))
  if (unclear !== undefined) {
    check.fault(variables.hosts, `must be a list of host:port, but contains ${unclear}`)
  }
  if (srv !== '' && !/^_[^.]+\._[^.]+\..+$/.test(srv)) {
    check.fault(variables.srv, 'must be a record of the form _service._proto.name')
  }
  if (srv === '') return { kind: 'list', hosts }
  return { kind: 'srv', record: srv, refreshMs: srvRefreshMs }
}
