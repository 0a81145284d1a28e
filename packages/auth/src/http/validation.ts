import createCompilerFactory from '@fastify/ajv-compiler'
import type { FastifySchema, FastifySchemaCompiler } from 'fastify'

type Validate = ReturnType<FastifySchemaCompiler<FastifySchema>>

/** All servers of a process share it, and so the schemas that it has compiled. */
const compile = createCompilerFactory()(
  {},
  { customOptions: { coerceTypes: false, removeAdditional: false } },
)

/**
 * Compiles a schema when it is first used. Compiling those of all endpoints would take a tenth of the time that the
 * server takes to start.
 */
export const compileLazily: FastifySchemaCompiler<FastifySchema> = ({ schema }) => {
  let validate: Validate | undefined
  const validateLazily: Validate = (data: unknown) => {
    validate ??= compile({ schema })
    const result = validate(data)
    // Ajv leaves the errors on the function, where Fastify reads them.
    validateLazily.errors = validate.errors ?? null
    return result
  }
  return validateLazily
}
