export * from '@portcullis/ratelimit/use/hono'
