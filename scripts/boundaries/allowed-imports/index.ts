// Which modules may import what: one list per package. See ../table.ts for the format of a list.

import type { Boundaries } from '../find-violations.ts'
import { auth, authFolders } from './auth.ts'
import { benchKit } from './bench-kit.ts'
import { graphqlOverHttp } from './graphql-over-http.ts'
import { grpcUnary } from './grpc-unary.ts'
import { limiter } from './limiter.ts'
import { portcullis } from './portcullis.ts'
import { ratelimit, ratelimitFolders } from './ratelimit.ts'
import { serviceKit } from './service-kit.ts'
import { testServers } from './test-servers.ts'

export const boundaries: Boundaries = {
  packages: {
    portcullis,
    auth,
    ratelimit,
    limiter,
    'graphql-over-http': graphqlOverHttp,
    'grpc-unary': grpcUnary,
    'service-kit': serviceKit,
    'test-servers': testServers,
    'bench-kit': benchKit,
  },
  folders: {
    auth: authFolders,
    ratelimit: ratelimitFolders,
  },
}
