# The tool with everything it needs, from the same package list as everywhere else.
#   docker build -t onnx-parity . && docker run --rm -v "$PWD:/data" -w /data onnx-parity validate model.onnx
FROM debian:13-slim AS build
WORKDIR /src
COPY tools/packages.txt tools/
RUN apt-get update && \
    grep -v '^#' tools/packages.txt | DEBIAN_FRONTEND=noninteractive xargs apt-get install -y --no-install-recommends
COPY . .
RUN cmake --preset release && cmake --build --preset release && cmake --install build/release --prefix /usr/local

FROM debian:13-slim
# The -dev packages of the list pull in the shared libraries; only those that run are needed here.
RUN apt-get update && \
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
      libtorch2.6 libonnxruntime1.21 libopenblas0-pthread libpng16-16t64 libturbojpeg0 libnettle8t64 libhwy1t64 zlib1g libarchive13t64 && \
    rm -rf /var/lib/apt/lists/*
COPY --from=build /usr/local /usr/local
ENTRYPOINT ["onnx-parity"]
