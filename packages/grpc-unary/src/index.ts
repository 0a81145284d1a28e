export { defaultLimits, type Limits } from './limits.ts'
export { type Address, type BoundAddress, bind } from './listener.ts'
export type {
  Method,
  Methods,
  StreamCall,
  StreamHandler,
  StreamMethod,
  UnaryCall,
  UnaryHandler,
  UnaryMethod,
} from './method.ts'
export { createGrpcServer, type GrpcServer, type GrpcServerOptions } from './server.ts'
export { type StatusCode, status } from './status.ts'
export type { TlsCredentials, TlsOptions } from './tls.ts'
