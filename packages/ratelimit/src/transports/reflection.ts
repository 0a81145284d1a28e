import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf'
import { type Methods, type StreamCall, type StreamHandler, status } from '@portcullis/grpc-unary'
import { toReason } from '@portcullis/service-kit/text/reason'
import type { FileDescriptor } from '../protocol/file-descriptors.ts'
import {
  type ServerReflectionRequest,
  ServerReflectionRequestSchema,
  ServerReflectionResponseSchema,
} from '../protocol/generated/grpc/reflection/v1/reflection_pb.ts'

/** The same messages under two names: tools use the older one if the newer one is missing. */
export const reflectionServices = [
  'grpc.reflection.v1.ServerReflection',
  'grpc.reflection.v1alpha.ServerReflection',
] as const

export interface ReflectionSettings {
  /** The full names of the listed services. */
  readonly services: readonly string[]
  /** The files that define them, with all imports. */
  readonly files: readonly FileDescriptor[]
}

type Answer = NonNullable<
  MessageInitShape<typeof ServerReflectionResponseSchema>['messageResponse']
>

/** Server reflection, so that tools such as grpcurl need no .proto files. */
export function createReflectionMethods(settings: ReflectionSettings): Methods {
  const open = (call: StreamCall): StreamHandler => ({
    message(bytes) {
      let request: ServerReflectionRequest
      try {
        request = fromBinary(ServerReflectionRequestSchema, bytes)
      } catch (error) {
        call.fail(status.INTERNAL, toReason(error))
        return
      }
      const response = create(ServerReflectionResponseSchema, {
        validHost: request.host,
        originalRequest: request,
        messageResponse: answer(request.messageRequest),
      })
      call.send(toBinary(ServerReflectionResponseSchema, response))
    },
    halfClose: () => call.end(),
  })
  const catalog = createCatalog(settings.files)

  const answer = (query: ServerReflectionRequest['messageRequest']): Answer => {
    switch (query.case) {
      case 'listServices':
        return {
          case: 'listServicesResponse',
          value: { service: settings.services.map((name) => ({ name })) },
        }
      case 'fileByFilename':
        return toFiles(catalog.byName.get(query.value), `file not found: ${query.value}`)
      case 'fileContainingSymbol':
        return toFiles(catalog.bySymbol.get(query.value), `symbol not found: ${query.value}`)
      case 'allExtensionNumbersOfType':
        return catalog.bySymbol.has(query.value)
          ? { case: 'allExtensionNumbersResponse', value: { baseTypeName: query.value } }
          : toError(status.NOT_FOUND, `type not found: ${query.value}`)
      case 'fileContainingExtension':
        return toError(status.NOT_FOUND, 'there are no extensions')
      case undefined:
        return toError(status.INVALID_ARGUMENT, 'the request type is not supported')
    }
  }
  /** A file is returned with all its direct and indirect imports. */
  const toFiles = (file: FileDescriptor | undefined, missing: string): Answer => {
    if (file === undefined) return toError(status.NOT_FOUND, missing)
    const fileDescriptorProto = catalog.withImports(file).map(({ encoded }) => encoded)
    return { case: 'fileDescriptorResponse', value: { fileDescriptorProto } }
  }

  return Object.fromEntries(
    reflectionServices.map((service) => [
      `/${service}/ServerReflectionInfo`,
      { kind: 'stream', open },
    ]),
  )
}

function toError(errorCode: number, errorMessage: string): Answer {
  return { case: 'errorResponse', value: { errorCode, errorMessage } }
}

function createCatalog(files: readonly FileDescriptor[]) {
  const byName = new Map(files.map((file) => [file.name, file]))
  const bySymbol = new Map(files.flatMap((file) => file.symbols.map((symbol) => [symbol, file])))
  const withImports = (file: FileDescriptor): FileDescriptor[] => {
    const found = new Set([file])
    // Iterating over a set includes the entries that are added during the iteration.
    for (const { dependencies } of found) {
      for (const name of dependencies) {
        const imported = byName.get(name)
        if (imported !== undefined) found.add(imported)
      }
    }
    return [...found]
  }
  return { byName, bySymbol, withImports }
}
