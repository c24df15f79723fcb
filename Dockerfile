# docker build -t agent-service .
# docker run --rm -v agent-service:/data agent-service keys create --name me --role admin
# docker run --init --stop-timeout 20 -p 127.0.0.1:3001:3001 -v agent-service:/data agent-service

FROM node:22-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
# --ignore-scripts, because the build needs the sources, which are not copied yet.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY build build
COPY bin bin
COPY machines machines
COPY src src
RUN npm run build

FROM node:22-bookworm-slim
WORKDIR /app
ENV NODE_ENV=production \
    AGENT_SERVICE_HOST=0.0.0.0 \
    PORT=3001 \
    AGENT_SERVICE_DATA_DIR=/data \
    AGENT_SERVICE_CONFIG=/app/ops/service.yml
RUN install -d -o node -g node -m 700 /data
COPY --from=build /app/dist dist
COPY package.json LICENSE ./
COPY bin bin
COPY ops/healthcheck.js ops/service.yml ops/
COPY agents agents
USER node
VOLUME /data
EXPOSE 3001
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["node", "ops/healthcheck.js"]
ENTRYPOINT ["node", "bin/agent-service.js"]
