export * from '@portcullis/ratelimit/use/express'
