# The app as an image: docker build -t flashattention . && docker run -p 7860:7860 flashattention
# With a GPU (and the NVIDIA container toolkit): docker run --gpus all -p 7860:7860 flashattention
FROM python:3.12-slim

# Triton compiles its launchers with a C compiler, on a GPU and in its interpreter.
COPY packages.txt /tmp/
RUN apt-get update -q \
    && xargs -a /tmp/packages.txt apt-get install -yq --no-install-recommends \
    && rm -rf /var/lib/apt/lists/*

# PyTorch for CUDA, which runs without a GPU as well. An image for CPUs alone is far smaller:
# docker build --build-arg PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu …
ARG PIP_EXTRA_INDEX_URL=
WORKDIR /app
COPY requirements.txt pre-requirements.txt constraints.txt ./
RUN pip install --no-cache-dir -c constraints.txt -r pre-requirements.txt -r requirements.txt

RUN useradd --create-home app
USER app
COPY LICENSE README.md app.py ./
COPY assets assets
COPY kernels kernels
COPY explainer explainer

ENV GRADIO_SERVER_NAME=0.0.0.0 \
    GRADIO_SERVER_PORT=7860 \
    GRADIO_ANALYTICS_ENABLED=False \
    PYTHONUNBUFFERED=1
EXPOSE 7860
# 503 means that kernels cannot run: the lesson still works then, so only silence is unhealthy.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import os, http.client as h; c = h.HTTPConnection('127.0.0.1', int(os.environ['GRADIO_SERVER_PORT']), timeout=4); c.request('GET', '/healthz'); raise SystemExit(c.getresponse().status not in (200, 503))"]
# The form without a shell: SIGTERM reaches the app, which ends its worker and itself.
CMD ["python", "app.py"]
