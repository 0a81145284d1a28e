export * from '@portcullis/ratelimit/use/fastify'
